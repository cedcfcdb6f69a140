"""The files of deploy/: the services find each other, and each panel of the dashboard asks for what
`/metrics` has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.artefacts.processes import ROOT
from tests.xscl.serve.asking import serving

FOLDER = ROOT / "deploy"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
PANELS = json.loads((FOLDER / "grafana" / "dashboard.json").read_text("utf-8"))["panels"]
TARGETS = [(panel["title"], each) for panel in PANELS for each in panel["targets"]]

FUNCTIONS = {"by", "histogram_quantile", "le", "rate", "sum", "topk"}
"""Words of Prometheus' language that the dashboard uses."""

SAMPLES = {
    "counter": ["_total"],
    "gauge": [""],
    "histogram": ["_bucket", "_count", "_sum"],
}
"""What follows the name of a family in those of its samples."""


def loaded(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def metrics() -> dict[str, set[str]]:
    """The names that can be asked for, each with the labels that it has by now."""
    with serving("-- name: q\nS//a") as server:
        server.publish("1", "<a/>", 0)
        server.publish("1", "<a/>", 0)
        _, body = server.raw("GET", "/metrics")
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(body.decode()):
        found |= {family.name + end: set() for end in SAMPLES[family.type]}
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.mark.parametrize(("panel", "target"), TARGETS, ids=[title for title, _ in TARGETS])
def test_a_panel_asks_for_what_is_there(
    panel: str, target: dict[str, str], metrics: dict[str, set[str]]
) -> None:
    words = {*re.findall(r"(?<![$\w])[a-z_]+\b", re.sub(r"\[.*?\]", "", target["expr"]))}
    labels = {*re.findall(r"{{(\w+)}}", target["legendFormat"])}
    named = words - FUNCTIONS - labels
    assert named, panel
    assert named <= metrics.keys(), panel
    for label in labels - {"feed"}:  # No feed is polled here.
        assert any(label in metrics[name] for name in named), panel


def test_a_name_that_is_gone_would_be_found(metrics: dict[str, set[str]]) -> None:
    assert {"xscl_taken_total", "xscl_request_seconds_bucket", "xscl_feed_failures"} <= {*metrics}
    assert "reason" in metrics["xscl_skipped_total"]
    assert "xscl_taken" not in metrics


def mounts() -> Iterator[tuple[str, str]]:
    """Each file of the folder that a service gets, with its place there."""
    for service in SERVICES.values():
        for volume in service.get("volumes", ()):
            source, target, *_ = volume.split(":")
            if source.startswith("."):
                yield source, target
            else:
                assert source in COMPOSE["volumes"], "a volume has a name below"


def test_the_files_that_are_mounted_are_there() -> None:
    given = dict(mounts())
    assert all((FOLDER / source).is_file() for source in given)
    kept = {file for file in FOLDER.rglob("*") if file.is_file() and file.name != ".env"}
    assert kept == {(FOLDER / source).resolve() for source in given} | {FOLDER / "compose.yaml"}
    (provider,) = loaded("grafana/dashboards.yml")["providers"]
    assert f"{provider['options']['path']}/dashboard.json" in given.values()
    shown = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert shown in given.values()


def test_the_services_find_each_other() -> None:
    """Prometheus asks XSCL by a host name that it accepts, with the token; Grafana asks
    Prometheus."""
    (job,) = loaded("prometheus.yml")["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    host, port = target.split(":")
    command = SERVICES[host]["command"]
    assert command[command.index("--allow-host") + 1] == host
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert f"\nEXPOSE {port}\n" in dockerfile
    assert '"--token-file", "/token"' in dockerfile
    assert job["authorization"]["credentials_file"] == "/token"
    for name in (host, "prometheus"):
        assert SERVICES[name]["secrets"] == [{"source": "token", "target": "/token"}]
    (source,) = loaded("grafana/datasources.yml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert {panel["datasource"]["uid"] for panel in PANELS} == {source["uid"]}
    published = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in published), "on this machine alone"
