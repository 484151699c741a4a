"""What plugins may import, and nothing else of ours.

Names are found on first use, so `from advisor.api import hookimpl` costs no catalog and no YAML parser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .accept import Accepted as Accepted
    from .accept import Reason as Reason
    from .accept import Rejected as Rejected
    from .accept import Rewrite as Rewrite
    from .accept import would_accept as would_accept
    from .accept import would_accept_librdkafka as would_accept_librdkafka
    from .ask.key_placement import KeyPlacer as KeyPlacer
    from .ask.key_placement import placer_of as placer_of
    from .ask.own_search import Searched as Searched
    from .ask.own_search import Stored as Stored
    from .ask.own_search import search_records as search_records
    from .catalog import COMPONENTS as COMPONENTS
    from .catalog import Fate as Fate
    from .catalog import Version as Version
    from .catalog import components_of as components_of
    from .catalog import edit_distance as edit_distance
    from .catalog import fate as fate
    from .catalog import is_known as is_known
    from .catalog import keys as keys
    from .catalog import known_anywhere as known_anywhere
    from .catalog import librdkafka as librdkafka
    from .catalog import librdkafka_only as librdkafka_only
    from .catalog import lookup as lookup
    from .catalog import replacement as replacement
    from .catalog import resolve_version as resolve_version
    from .catalog import suggest as suggest
    from .context import Context as Context
    from .context import Hit as Hit
    from .context import Judgement as Judgement
    from .context import Question as Question
    from .edit.steps import CannotEdit as CannotEdit
    from .edit.steps import EditStep as EditStep
    from .edit.steps import Splice as Splice
    from .edit.steps import inserted_after as inserted_after
    from .edit.steps import line_end as line_end
    from .edit.steps import line_start as line_start
    from .edit.steps import next_line as next_line
    from .edit.steps import related as related
    from .edit.steps import removed_lines as removed_lines
    from .edit.steps import spliced as spliced
    from .hookspecs import API_VERSION as API_VERSION
    from .hookspecs import NUMBER as NUMBER
    from .hookspecs import SEARCHED as SEARCHED
    from .hookspecs import CheckSpec as CheckSpec
    from .hookspecs import ClientSpec as ClientSpec
    from .hookspecs import FormatSpec as FormatSpec
    from .hookspecs import ModelSpec as ModelSpec
    from .hookspecs import PackSpec as PackSpec
    from .hookspecs import ReporterSpec as ReporterSpec
    from .hookspecs import hookimpl as hookimpl
    from .join.controllers import READ_BY_CONTROLLERS as READ_BY_CONTROLLERS
    from .join.controllers import controllers_apart as controllers_apart
    from .join.controllers import first_setting as first_setting
    from .join.controllers import holds_partitions as holds_partitions
    from .join.controllers import roles_of as roles_of
    from .join.old_clients import clients_too_old as clients_too_old
    from .join.old_clients import stated_version as stated_version
    from .join.reader import Reader as Reader
    from .join.reader import read_alone as read_alone
    from .model import Change as Change
    from .model import Deployment as Deployment
    from .model import Document as Document
    from .model import Dropped as Dropped
    from .model import Edit as Edit
    from .model import Fact as Fact
    from .model import Fix as Fix
    from .model import Loaded as Loaded
    from .model import LoadError as LoadError
    from .model import Location as Location
    from .model import Origin as Origin
    from .model import Secret as Secret
    from .model import Setting as Setting
    from .model import Source as Source
    from .model import Undisclosed as Undisclosed
    from .model import Unknown as Unknown
    from .model import Value as Value
    from .model import members_of as members_of
    from .output.terminal import wrapped as wrapped
    from .output.text import json_text as json_text
    from .output.text import printable as printable
    from .plugin_functions import AssignorFunction as AssignorFunction
    from .plugin_functions import ClaimFunction as ClaimFunction
    from .plugin_functions import Config as Config
    from .plugin_functions import DeploymentCheck as DeploymentCheck
    from .plugin_functions import DocumentCheck as DocumentCheck
    from .plugin_functions import EditFunction as EditFunction
    from .plugin_functions import GuaranteeFunction as GuaranteeFunction
    from .plugin_functions import LoadFunction as LoadFunction
    from .plugin_functions import PartitionerFunction as PartitionerFunction
    from .plugin_functions import RefusedFunction as RefusedFunction
    from .plugin_functions import RenderFunction as RenderFunction
    from .plugin_functions import Report as Report
    from .plugin_functions import ReporterOptions as ReporterOptions
    from .plugin_functions import StreamFunction as StreamFunction
    from .plugin_functions import TopicPartition as TopicPartition
    from .read.secrets import is_secret_key as is_secret_key
    from .read.template.places import is_template as is_template
    from .read.template.places import names_secret as names_secret
    from .read.template.yaml_actions import without_actions as without_actions
    from .read.values import setting as setting
    from .read.values import value_of as value_of
    from .sim.assign.members import Member as Member
    from .sim.assign.members import Metadata as Metadata
    from .sim.placing.partitioner import partition_for as partition_for
    from .syntax.jsontree import json_events as json_events
    from .syntax.jsontree import parse_json as parse_json
    from .syntax.numbers import fact_count as fact_count
    from .syntax.numbers import integer as integer
    from .syntax.numbers import is_digits as is_digits
    from .syntax.pattern import pattern as pattern
    from .syntax.properties import Entry as Entry
    from .syntax.properties import parse_properties as parse_properties
    from .syntax.units import meant as meant
    from .syntax.units import spring_bytes as spring_bytes
    from .syntax.units import spring_millis as spring_millis
    from .syntax.yamltree import Node as Node
    from .syntax.yamltree import parse_yaml as parse_yaml
    from .tell.html.audit_page import audit_page as audit_page
    from .tell.messages import message_of as message_of
    from .tell.run import run_lines as run_lines
    from .tell.run import run_of as run_of
    from .tell.run.faults import faults_text as faults_text
    from .tell.run.faults import headline_text as headline_text
    from .tell.run.faults import spent_in as spent_in
    from .tell.run.text import legend_lines as legend_lines

_HOMES = {
    "accept": "Accepted Reason Rejected Rewrite would_accept would_accept_librdkafka",
    "catalog": "COMPONENTS Fate Version components_of edit_distance fate is_known keys known_anywhere "
    "librdkafka librdkafka_only lookup replacement resolve_version suggest",
    "ask.own_search": "Searched Stored search_records",
    "context": "Context Hit Judgement Question",
    "edit.steps": "CannotEdit EditStep Splice inserted_after line_end line_start next_line related "
    "removed_lines spliced",
    "hookspecs": "API_VERSION NUMBER SEARCHED CheckSpec ClientSpec FormatSpec ModelSpec PackSpec "
    "ReporterSpec hookimpl",
    "ask.key_placement": "KeyPlacer placer_of",
    "model": "Change Deployment Document Dropped Edit Fact Fix Loaded LoadError Location Origin Secret "
    "Setting Source Undisclosed Unknown Value members_of",
    "join.reader": "Reader read_alone",
    "plugin_functions": "AssignorFunction ClaimFunction Config DeploymentCheck DocumentCheck EditFunction "
    "GuaranteeFunction LoadFunction PartitionerFunction RefusedFunction RenderFunction Report "
    "ReporterOptions StreamFunction TopicPartition",
    "sim.assign.members": "Member Metadata",
    "output.text": "json_text printable",
    "join.controllers": "READ_BY_CONTROLLERS controllers_apart first_setting holds_partitions roles_of",
    "join.old_clients": "clients_too_old stated_version",
    "read.values": "setting value_of",
    "output.terminal": "wrapped",
    "tell.html.audit_page": "audit_page",
    "tell.run": "run_lines run_of",
    "tell.messages": "message_of",
    "tell.run.faults": "faults_text headline_text spent_in",
    "tell.run.text": "legend_lines",
    "read.secrets": "is_secret_key",
    "sim.placing.partitioner": "partition_for",
    "syntax.jsontree": "json_events parse_json",
    "syntax.numbers": "fact_count integer is_digits",
    "syntax.pattern": "pattern",
    "syntax.properties": "Entry parse_properties",
    "syntax.units": "meant spring_bytes spring_millis",
    "syntax.yamltree": "Node parse_yaml",
    "read.template.yaml_actions": "without_actions",
    "read.template.places": "is_template names_secret",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"advisor.api has no name {name!r}")
    value = getattr(import_module(f"advisor.{module}"), name)
    globals()[name] = value
    return value
