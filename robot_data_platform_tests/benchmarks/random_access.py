"""Scenarios A to D: our reader, its floor and its peers, taking turns on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from robot_data_platform_tests.benchmarks.draws import batches_of, rows_shown
from robot_data_platform_tests.benchmarks.figures import Figure, figure, ratio, take_turns
from robot_data_platform_tests.benchmarks.scale import Scale
from robot_data_platform_tests.benchmarks.source_files import DATASET
from robot_data_platform_tests.benchmarks.stores import CODECS, Bench, Stores
from robot_data_platform_tests.benchmarks.worker import Worker

SCENARIOS = "ABCD"
OURS = "ours"
PEERS = ("lerobot", "lerobot_lancedb")
WARM_UP_ROUND = 1_000
"""A round whose rows no measured round has; it opens files and starts workers."""
TRIAL_ROUNDS = 2
"""Rounds in which every setting of a peer is tried."""
PREFETCH = 2
"""Batches that our reader reads ahead, as the peers' two workers do; without, it is tried too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a peer can be asked to read."""

    peer: str
    codec: str
    backend: str
    workers: int

    @property
    def name(self) -> str:
        """Name in the results."""
        return f"{self.peer} {self.codec} {self.backend} {self.workers} workers"


def settings_of_peers() -> list[Setting]:
    """Return every setting that is tried; lerobot-lancedb has one backend."""
    return [
        Setting(peer=peer, codec=codec, backend=backend, workers=workers)
        for peer, backends in (("lerobot", ("torchcodec", "pyav")), (PEERS[1], ("torchcodec",)))
        for codec in CODECS
        for backend in backends
        for workers in (0, 2)
    ]


def measure(bench: Bench, stores: Stores) -> dict[str, Any]:
    """Try every setting of the peers, then let the best ones and ours take turns."""
    trials = _try_all(bench, stores) if bench.peers_python is not None else {}
    best = {
        (peer, scenario): min(
            (s for s in trials if s.peer == peer), key=lambda s: min(trials[s][scenario])
        )
        for scenario in SCENARIOS
        for peer in (PEERS if trials else ())
    }
    own_trials = _try_ours(bench, stores)
    prefetch = {s: min(own_trials, key=lambda n: min(own_trials[n][s])) for s in SCENARIOS}
    figures, ratios = _take_turns(bench, stores, best, prefetch)
    if trials:
        figures["D_daft"] = _daft(bench, stores)
    return {
        "figures": figures,
        "ratios": ratios,
        "best_settings": {
            **{f"{s}_{peer}": found.name for (peer, s), found in best.items()},
            **{f"{s}_{OURS}": _own_name(ahead) for s, ahead in prefetch.items()},
        },
        "trials": {
            name: {s: figure(seconds[s], unit_of(s)) for s in SCENARIOS}
            for name, seconds in (
                *((setting.name, found) for setting, found in trials.items()),
                *((_own_name(ahead), found) for ahead, found in own_trials.items()),
            )
        },
    }


def _own_name(prefetch: int) -> str:
    return f"{OURS}, {prefetch} batches read ahead"


def unit_of(scenario: str) -> str:
    """Return what the seconds of a scenario are of."""
    return {"A": "s/sample", "B": "s/batch", "C": "s/window", "D": "s/25 steps"}[scenario]


def _trial_scale(scale: Scale) -> Scale:
    return replace(
        scale,
        samples_per_round=6,
        batches_per_round=1,
        windows_per_round=2,
        steps=min(50, scale.steps),
    )


def _try_ours(bench: Bench, stores: Stores) -> dict[int, dict[str, list[float]]]:
    """Return the seconds of each scenario without and with reading ahead."""
    with bench.own_worker() as own:
        own.ask("open", lake=str(stores.lake), dataset=DATASET)
        _warm_up(own, bench.scale, {})
        return {
            ahead: {
                s: [_ask(own, bench.scale, s, n, prefetch=ahead) for n in range(TRIAL_ROUNDS)]
                for s in SCENARIOS
            }
            for ahead in (0, PREFETCH)
        }


def _try_all(bench: Bench, stores: Stores) -> dict[Setting, dict[str, list[float]]]:
    trials: dict[Setting, dict[str, list[float]]] = {}
    scale = _trial_scale(bench.scale)
    for setting in settings_of_peers():
        if setting.workers:
            continue
        bench.say(f"trying {setting.peer}, {setting.codec}, {setting.backend}")
        with bench.peer_worker() as worker:
            _open_peer(worker, stores, setting)
            _check_same_output(worker, bench)
            for workers in (0, 2):
                tried = replace(setting, workers=workers)
                _warm_up(worker, scale, {"workers": workers})
                trials[tried] = {
                    s: [_ask(worker, scale, s, n, workers=workers) for n in range(TRIAL_ROUNDS)]
                    for s in SCENARIOS
                }
    return trials


def _check_same_output(worker: Worker, bench: Bench) -> None:
    expected = [3, *bench.scale.size_px]
    shown = worker.ask("describe")
    if any(shape != expected or "uint8" not in kind for shape, kind in shown.values()):
        raise RuntimeError(f"A peer returns other pictures than ours: {shown}")


def _take_turns(
    bench: Bench,
    stores: Stores,
    best: Mapping[tuple[str, str], Setting],
    prefetch: Mapping[str, int],
) -> tuple[dict[str, Figure], dict[str, Figure]]:
    figures: dict[str, Figure] = {}
    ratios: dict[str, Figure] = {}
    with _workers(bench, stores, best) as (own, worker_of):
        for scenario in SCENARIOS:
            bench.say(f"scenario {scenario}, taking turns")
            seconds, cpu = _scenario(bench, scenario, best, own, worker_of, prefetch[scenario])
            figures |= {f"{scenario}_{n}": figure(s, unit_of(scenario)) for n, s in seconds.items()}
            for name, parts in cpu.items():
                figures[f"{scenario}_{name}_cpu_per_frame"] = figure(parts, "s/frame")
            for peer in PEERS if best else ():
                ratios[f"{scenario}_vs_{peer}"] = ratio(seconds[peer], seconds[OURS])
            if scenario == "B":
                ratios["cpu_over_floor"] = ratio(cpu[OURS], cpu["floor"])
        figures |= _opening(bench, own, worker_of, best)
    return figures, ratios


def _scenario(
    bench: Bench,
    scenario: str,
    best: Mapping[tuple[str, str], Setting],
    own: Worker,
    worker_of: Mapping[Setting, Worker],
    prefetch: int,
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return seconds by reader, and our processor seconds per picture and the floor's."""
    cpu: dict[str, list[float]] = {OURS: []}

    def ours(number: int) -> float:
        batches = batches_of(bench.scale, scenario, number)
        reply = own.ask("measure", scenario=scenario, batches=batches, prefetch=prefetch)
        cpu[OURS].append(reply["cpu_s"] * len(batches) / reply["pictures"])
        return float(reply["wall_s"])

    def floor(number: int) -> float:
        batches = batches_of(bench.scale, scenario, number)
        shown = [rows_shown(bench.scale, scenario, batch) for batch in batches]
        reply = own.ask("floor", batches=shown)
        cpu.setdefault("floor", []).append(reply["cpu_s"] * len(batches) / reply["pictures"])
        return float(reply["wall_s"])

    def theirs(setting: Setting) -> Callable[[int], float]:
        return lambda number: _ask(
            worker_of[setting], bench.scale, scenario, number, workers=setting.workers
        )

    measures: dict[str, Callable[[int], float]] = {OURS: ours}
    measures |= {"floor": floor} if scenario != "D" else {}
    measures |= {peer: theirs(best[peer, scenario]) for peer in PEERS if best}
    return take_turns(bench.scale.num_rounds, measures), cpu


def _daft(bench: Bench, stores: Stores) -> Figure:
    """Return what 25 steps cost in Daft, which has no random access: a dataframe of an episode."""
    bench.say("scenario D, Daft")
    root = str(stores.peer_root("lerobot", "h264"))
    with bench.peer_worker() as worker:
        replies = [
            worker.ask("daft_steps", root=root, episode=number, steps=bench.scale.steps)
            for number in (0, 1, 0)
        ]
    # The first one starts Daft's engine.
    return figure([25 * reply["wall_s"] for reply in replies[1:]], unit_of("D"))


def _opening(
    bench: Bench,
    own: Worker,
    worker_of: Mapping[Setting, Worker],
    best: Mapping[tuple[str, str], Setting],
) -> dict[str, Figure]:
    """Return how long each takes to open the dataset anew."""
    workers = {OURS: own, **{peer: worker_of[best[peer, "A"]] for peer in PEERS if best}}
    measures = {name: _asking_to_open(worker) for name, worker in workers.items()}
    seconds = take_turns(bench.scale.num_rounds, measures)
    return {f"open_{name}": figure(values, "s") for name, values in seconds.items()}


def _asking_to_open(worker: Worker) -> Callable[[int], float]:
    return lambda number: float(worker.ask("open_seconds")["wall_s"])


@contextmanager
def _workers(
    bench: Bench, stores: Stores, best: Mapping[tuple[str, str], Setting]
) -> Iterator[tuple[Worker, dict[Setting, Worker]]]:
    """Yield our process and one for each chosen setting, warmed up."""
    with ExitStack() as stack:
        own = stack.enter_context(bench.own_worker())
        own.ask("open", lake=str(stores.lake), dataset=DATASET)
        _warm_up(own, bench.scale, {"prefetch": PREFETCH})
        own.ask("floor", batches=batches_of(bench.scale, "B", WARM_UP_ROUND))
        worker_of = {}
        for setting in dict.fromkeys(best.values()):
            worker = stack.enter_context(bench.peer_worker())
            _open_peer(worker, stores, setting)
            wanted = "".join(s for (_, s), chosen in best.items() if chosen == setting)
            _warm_up(worker, bench.scale, {"workers": setting.workers}, wanted)
            worker_of[setting] = worker
        yield own, worker_of


def _open_peer(worker: Worker, stores: Stores, setting: Setting) -> None:
    root = stores.peer_root(setting.peer, setting.codec)
    worker.ask("open", peer=setting.peer, root=str(root), backend=setting.backend)


def _warm_up(
    worker: Worker, scale: Scale, options: Mapping[str, int], scenarios: str = SCENARIOS
) -> None:
    for scenario in scenarios:
        batches = batches_of(scale, scenario, WARM_UP_ROUND)[:4]
        worker.ask("measure", scenario=scenario, batches=batches, **options)


def _ask(worker: Worker, scale: Scale, scenario: str, number: int, **options: int) -> float:
    batches = batches_of(scale, scenario, number)
    return float(worker.ask("measure", scenario=scenario, batches=batches, **options)["wall_s"])
