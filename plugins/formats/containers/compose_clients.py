"""The containers of a Compose file that run no Kafka but speak to it: Spring Boot applications by their
SPRING_KAFKA_ variables, and every service that is told the address of a broker of the file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from advisor.api import Document, Fact, Location, Origin

from .images import Variable

_SPRING = "SPRING_KAFKA_"
_SPEAKS = re.compile(r"KAFKA|BROKER|BOOTSTRAP", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![\w.-])([A-Za-z][\w-]{0,60}+):([0-9]{2,5}+)(?![\w.])")


class Application(NamedTuple):
    name: str
    line: int
    variables: Mapping[str, Variable]
    on_host: bool  # it has the network of the host


def documents_of(file: str, applications: Sequence[Application]) -> list[Document]:
    """What Spring Boot makes of the variables of each application."""
    found: list[Document] = []
    for one in applications:
        given = [variable for variable in one.variables.values() if variable.name.startswith(_SPRING)]
        if given:
            # Most files have none, and Spring's fields are much to load.
            from ..spring.spring_env import clients_of, prop

            props = [prop(each.file, each.name, each.text, each.line or one.line) for each in given]
            found += [
                document._replace(
                    format="compose",
                    line=document.line or one.line,
                    hints=(*document.hints, ("compose", file)),
                )
                for document in clients_of(file, one.name, props)
            ]
    return found


def addresses_of(
    applications: Sequence[Application], names: Collection[str], fact: str = "client.address"
) -> Iterator[Fact]:
    """Who speaks to a broker under one of these names: ("client.address", "SERVICE NAME:PORT")."""
    for one in applications:
        for variable in one.variables.values():
            if one.on_host or not _SPEAKS.search(variable.name):
                continue
            for host, port in _ADDRESS.findall(variable.text):
                if host in names:
                    origin = Origin("file", Location(variable.file, variable.line))
                    yield Fact(fact, f"{one.name} {host}:{port}", origin)
