"""Kubernetes workloads: golden cases, and what is none of our business."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka_advisor_plugins.formats.kube import kubernetes

from advisor.model import Source
from tests.formats import runner


@pytest.mark.parametrize("case", runner.cases("kubernetes"), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    runner.check(case, kubernetes.load, kubernetes.claim)


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("kind: Deployment\nmetadata: {name: kafka-reader}\n", True),
        ("kind: Deployment\nmetadata: {name: web}\n", False),
        ("kind: ConfigMap\nmetadata: {name: kafka}\n", False),
        ("- kind: StatefulSet # of a kustomization for kafka\n", True),
    ],
)
def test_claim(text: str, claimed: bool) -> None:
    assert bool(kubernetes.claim("k8s/app.yaml", text)) == claimed


@pytest.mark.parametrize(
    "text",
    [
        "kind: Deployment\n",
        "kind: Deployment\nspec: 3\n",
        "kind: Deployment\nspec: {replicas: {}, template: {spec: {containers: [1, {env: 2}, {env: [{}]}]}}}",
        "kind: Deployment\nmetadata:\n  {{- include kafka }}\n  name: x\n",
        "items: [kind, {kind: Deployment, metadata: 3}]\n",
    ],
)
def test_shapes_that_nobody_expects(text: str) -> None:
    assert all(
        one.component == "workload"
        for one in kubernetes.load(Source("a.yaml", text, lambda _: None)).documents
    )
