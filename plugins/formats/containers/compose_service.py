"""One service of a Compose file: what it extends and is built from, its command, mounts, ports and names."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from advisor.api import (
    Fact,
    LoadError,
    Location,
    Node,
    Origin,
    Setting,
    integer,
    is_digits,
    parse_yaml,
    setting,
)

from .compose_env import Place, beside, interpolate
from .image_names import Image, base_image, classify
from .images import Variable

OVERRIDE = re.compile(r"--override[ =]++(['\"]?)([\w.\-]++)=((?:\$\{[^}$]*+\}|[^\s'\"])*+)\1")
_MOUNTED = re.compile(
    r"\.properties$|^/mnt/shared/config|^/etc/kafka/?$|/kafka/config/?$|^/bitnami/kafka/config"
)


def extended(
    service: Node, services: Node | None, place: Place, problems: list[str]
) -> list[tuple[Node, Place]]:
    """The service and what it extends, nearest first."""
    chain = [(service, place)]
    seen = {id(service)}
    while len(chain) < 20:
        extends = service.get("extends")
        if extends is None:
            break
        wanted = extends.value if extends.kind == "scalar" else extends.text_at("service")
        file = extends.text_at("file")
        if file:
            services = place.load(file, services_in)
            place = place.there(file)
            if services is None:
                problems.append(f"extends {file} (line {extends.line}) cannot be read")
        base = services.get(wanted) if services is not None and wanted else None
        if base is None or base.kind != "mapping" or id(base) in seen:
            break
        service = base
        seen.add(id(service))
        chain.append((service, place))
    return chain


def services_in(text: str) -> Node | None:
    try:
        roots = parse_yaml(text)
    except LoadError:
        return None
    return next((found for root in roots if (found := services_of(root)) is not None), None)


def services_of(root: Node) -> Node | None:
    """`services`, or the whole document in the first version of the format."""
    services = root.get("services")
    if services is not None:
        return services if services.kind == "mapping" else None
    if any(value.get("image") or value.get("build") for _, _, value in root.pairs()):
        return root
    return None


def first_node(chain: list[tuple[Node, Place]], key: str) -> Node | None:
    return next((found for layer, _ in chain if (found := layer.get(key)) is not None), None)


def first_text(chain: list[tuple[Node, Place]], key: str) -> str | None:
    found = first_node(chain, key)
    return None if found is None else found.value


def command_of(
    chain: list[tuple[Node, Place]], known: Mapping[str, str], variables: dict[str, Variable]
) -> list[tuple[str, int]]:
    """entrypoint and command as (text, line), with the container's own variables filled in."""
    parts = []
    for key in ("entrypoint", "command"):
        node = first_node(chain, key)
        for piece in [] if node is None else node.elements or [node]:
            if piece.value:
                parts.append((interpolate(piece.value, known).text, piece.line))
    inside = {name: variable.text for name, variable in variables.items()}
    return [(_from_container(text, inside), line) for text, line in parts]


def _from_container(text: str, inside: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda match: inside.get(match[1] or match[2], match[0]), text)


def command_overrides(command: list[tuple[str, int]], file: str) -> list[Setting]:
    """`kafka-server-start.sh server.properties --override k=v`; in list form k=v is an element of its own."""
    found = [
        setting(match[2], match[3], file, line, "--override")
        for text, line in command
        for match in OVERRIDE.finditer(text)
    ]
    for (text, _), (value, line) in pairwise(command):
        key, equals, rest = value.partition("=")
        if text == "--override" and equals:
            found.append(setting(key, rest, file, line, "--override"))
    return found


def replicas_of(chain: list[tuple[Node, Place]], known: Mapping[str, str]) -> int | None:
    for path in (("deploy", "replicas"), ("scale",)):
        node = next((found for layer, _ in chain if (found := layer.get(*path)) is not None), None)
        if node is not None and node.value is not None:
            text = interpolate(node.value, known).text
            return integer(text, (0, 99_999))
    return 1


def mounts_of(chain: list[tuple[Node, Place]], known: Mapping[str, str]) -> Iterator[str]:
    """Files and folders of the repository that Kafka's own configuration is read from."""
    for layer, place in chain:
        volumes = layer.get("volumes")
        for volume in volumes.elements if volumes is not None else ():
            if volume.kind == "mapping":
                source, target = volume.text_at("source") or "", volume.text_at("target") or ""
            else:
                source, _, target = interpolate(volume.text(), known).text.partition(":")
                target = target.partition(":")[0]
            if source.startswith(".") and _MOUNTED.search(target):
                yield beside(place.file, source)


def published_ports(chain: list[tuple[Node, Place]], known: Mapping[str, str]) -> Iterator[Fact]:
    """("port.published", "HOST:CONTAINER") for each port that the host can reach."""
    ports = first_node(chain, "ports")
    for port in ports.elements if ports is not None else ():
        if port.kind == "mapping":
            outer, inner = port.text_at("published") or "", port.text_at("target") or ""
        else:
            outer, _, inner = interpolate(port.text(), known).text.partition("/")[0].rpartition(":")
            outer = outer.rpartition(":")[2]
        if is_digits(outer) and is_digits(inner):
            origin = Origin("file", Location(chain[0][1].file, port.line))
            yield Fact("port.published", f"{outer}:{inner}", origin)


def names_of(name: str, service: Node) -> set[str]:
    found = {name}
    if service.kind == "mapping":
        found |= {service.text_at(key) or name for key in ("hostname", "container_name")}
        networks = service.get("networks")
        for _, _, network in networks.pairs() if networks is not None else ():
            aliases = network.get("aliases") if network.kind == "mapping" else None
            found |= {alias.text() for alias in (aliases.elements if aliases is not None else ())}
    return found


def names_of_all(services: Node | None) -> set[str]:
    """What containers can be reached by: their services, host names, container names and aliases."""
    found: set[str] = set()
    for name, _, service in services.pairs() if services is not None else ():
        found |= names_of(name, service)
    return found


def built_from(chain: list[tuple[Node, Place]], known: Mapping[str, str]) -> Image | None:
    """The Kafka image that the service's Dockerfile begins with."""
    for layer, place in chain:
        build = layer.get("build")
        if build is None:
            continue
        if build.kind == "scalar":
            folder, file = build.value or ".", "Dockerfile"
        else:
            folder, file = build.text_at("context") or ".", build.text_at("dockerfile") or "Dockerfile"
        inline = build.text_at("dockerfile_inline") if build.kind == "mapping" else None
        path = posixpath.normpath(posixpath.join(interpolate(folder, known).text, file))
        reference = base_image(inline) if inline else place.load(path, base_image)
        return classify(reference) if reference else None
    return None


def needs_of_all(services: Node) -> set[str]:
    """Services that others cannot start without: Compose refuses a file that lacks one."""
    found: set[str] = set()
    for _, _, service in services.pairs():
        needed = service.get("depends_on") if service.kind == "mapping" else None
        if needed is not None:
            found |= {name for name, _, _ in needed.pairs()} | {one.text() for one in needed.elements}
    return found
