"""`dagster dev` on a demonstration's instance, and a headless Chromium to look at it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from robot_data_platform_tests.servers import free_ports, require

START_S = 150
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1600,1100",
)


@contextmanager
def dagster_dev(folder: Path) -> Iterator[str]:
    """Run `dagster dev` in a folder, as `make ui` does, and yield its address."""
    port = free_ports(1)[0]
    program = str(Path(sys.executable).with_name("dagster"))
    command = [program, "dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RDP_")}
    environment = {**kept, "DAGSTER_HOME": str(folder)}
    with (folder / "dagster-dev.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address, process)
            yield address
        finally:
            _stop(process)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/server_info", timeout=5):
                return
        except OSError:
            assert process.poll() is None, "dagster dev ended"
            time.sleep(0.5)
    raise TimeoutError(address)


def _stop(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@contextmanager
def chromium(folder: Path) -> Iterator[webdriver.Chrome]:
    """Yield a headless browser with a profile of its own; skips where none is installed."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    require(browser is not None and driver is not None, "Chromium with its driver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(browser)
    for argument in (*ARGUMENTS, f"--user-data-dir={folder / 'chromium'}"):
        options.add_argument(argument)
    page = webdriver.Chrome(options=options, service=Service(str(driver)))
    try:
        page.set_page_load_timeout(60)
        yield page
    finally:
        page.quit()
