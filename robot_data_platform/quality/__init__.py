"""Quality of recorded episodes: rules that return findings, and the reports made of them."""
