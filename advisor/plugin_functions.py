"""What the "module:function" strings of a spec lead to, as types: what a function may read and must return.

Only type checkers need this module; nothing imports it in a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .accept import Accepted, Rejected
from .context import Context, Hit, Judgement
from .edit.steps import EditStep
from .model import Deployment, Document, Loaded, Source
from .sim.assign.members import Member, Metadata

# The JSON report, by schemas/report.schema.json.
Report: TypeAlias = Mapping[str, Any]
# What a reporter is told besides: `path_of(file)` names a file to the reader, `line_of(file, line, key)` is
# its line with the place of the setting, or None; `width` and `colour` of the terminal; the flags `runs`,
# `all`, `files` and `quiet`.
ReporterOptions: TypeAlias = Mapping[str, Any]
# A client's configuration as it would reach the library: texts, Secrets, Unknowns.
Config: TypeAlias = Mapping[str, Any]
TopicPartition: TypeAlias = tuple[str, int]

# FormatSpec
ClaimFunction: TypeAlias = Callable[[str, str], int]
LoadFunction: TypeAlias = Callable[[Source], Loaded]
StreamFunction: TypeAlias = Callable[[str, Iterable[str]], Loaded]
EditFunction: TypeAlias = Callable[[Source, Document, EditStep], str]
# CheckSpec, by what it reads
DocumentCheck: TypeAlias = Callable[[Document, Context], Iterable[Hit]]
DeploymentCheck: TypeAlias = Callable[[Deployment, Context], Iterable[Hit]]
# ReporterSpec
RenderFunction: TypeAlias = Callable[[Report, ReporterOptions], str]
# ClientSpec
RefusedFunction: TypeAlias = Callable[[str, Config], Accepted | Rejected]
# ModelSpec, by its kind
GuaranteeFunction: TypeAlias = Callable[[Deployment, Context], Iterable[Judgement]]
AssignorFunction: TypeAlias = Callable[
    [Sequence[Member], Metadata, tuple[int, int]], Mapping[str, Sequence[TopicPartition]]
]
PartitionerFunction: TypeAlias = Callable[[bytes, int], int]
