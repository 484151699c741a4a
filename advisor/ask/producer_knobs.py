"""A producer's settings -> the knobs of its policy, as its client family reads them."""

from __future__ import annotations

from collections.abc import Mapping

from ..catalog import librdkafka
from ..join.reader import Reader
from ..model import Origin, Setting
from ..syntax.numbers import INT, integer
from .knob import Knob


def producer_knobs(reader: Reader) -> dict[str, Knob] | None:
    """Empty where no producer is in sight, None where its settings contradict each other: it does not
    start."""
    document = reader.deployment.producer
    if document is None:
        return {}
    if document.client == "librdkafka":
        return _librdkafka_producer(reader)
    return _java_producer(reader)


def _java_producer(reader: Reader) -> dict[str, Knob] | None:
    """None where the producer refuses to start (ProducerConfig.postProcessParsedConfig)."""
    acks_text, acks_found = reader.text("producer", "acks")
    acks = _acks(acks_text, acks_found)
    in_flight, flight_found = reader.number("producer", "max.in.flight.requests.per.connection")
    retries, retries_found = reader.number("producer", "retries")
    asked_by = _idempotence_asked_by(reader)
    if asked_by is not None and reader.version_of("producer").number < (3, 0):
        # What is left to its default is raised: acks from 1, and in 2.0 retries from 0.
        if "acks" not in reader.layers["producer"]:
            acks = acks._replace(values=("all",), decided_by=(("producer", asked_by),))
        if "retries" not in reader.layers["producer"]:
            retries, retries_found = INT[1], asked_by
    idempotence = _idempotence(reader, acks, in_flight, retries)
    if idempotence is None:
        return None
    return {
        "acks": acks,
        "in_flight": _numbers(
            "in_flight", "max.in.flight.requests.per.connection", in_flight, flight_found, (1, 5), 5
        ),
        "retries": _retries(retries, retries_found),
        "idempotence": idempotence,
    }


def _idempotence_asked_by(reader: Reader) -> Setting | None:
    """The setting that asks for idempotence: its own, or a transactional.id, which needs it."""
    layer: Mapping[str, Setting] = reader.layers["producer"]
    given = layer.get("enable.idempotence")
    if given is not None and isinstance(given.value, str) and given.value.strip().lower() == "true":
        return given
    return layer.get("transactional.id")


def _idempotence(reader: Reader, acks: Knob, in_flight: int | None, retries: int | None) -> Knob | None:
    """A producer that asks for it does not start with settings that contradict it. By default, from 3.0,
    such settings switch it off without an error; from 4.0 too many requests in flight are refused."""
    field, key = "idempotence", "enable.idempotence"
    given = reader.layers["producer"].get(key)
    crowded = in_flight is not None and in_flight > 5
    fits = "all" in acks.values and retries != 0 and not crowded
    off = given is not None and isinstance(given.value, str) and given.value.strip().lower() != "true"
    asked_by = _idempotence_asked_by(reader)
    if asked_by is not None:
        return Knob(field, (True,), key, (("producer", asked_by),), True) if fits and not off else None
    if off and given is not None:
        return Knob(field, (False,), key, (("producer", given),), True)
    found = reader.of_release("producer", key)
    default = found is not None and found.value == "true"
    if given is not None:  # filled in elsewhere
        return Knob(field, (True, False) if fits else (False,), key, (("producer", given),), True)
    if crowded and reader.version_of("producer").number >= (4, 0):
        return None
    if default and fits and not (acks.seen and reader.in_sight("producer", key)):
        return Knob(field, (True, False), key, (), True)
    shown = (("producer", found),) if found is not None else ()
    # What switches it off is what decides it.
    against = () if fits or not default else acks.decided_by
    return Knob(field, (default and fits,), key, against or shown, default)


def _acks(text: str | None, found: Setting | None) -> Knob:
    decided = (("producer", found),) if found is not None else ()
    value = {"-1": "all", "all": "all", "1": "1", "0": "0"}.get((text or "").lower())
    if value is None:
        return Knob("acks", ("all", "1"), "acks", decided, "all")
    return Knob("acks", (value,), "acks", decided, "all")


def _numbers(
    field: str, label: str, value: int | None, found: Setting | None, choices: tuple[int, ...], reference: int
) -> Knob:
    decided = (("producer", found),) if found is not None else ()
    return Knob(field, (value,) if value is not None and value > 0 else choices, label, decided, reference)


def _retries(value: int | None, found: Setting | None) -> Knob:
    decided = (("producer", found),) if found is not None else ()
    if value is None:
        return Knob("retries", (None, 0), "retries", decided, None)
    # Above one retry nothing new can happen in the bounds; a great number stands for "as long as it takes".
    return Knob("retries", (value if value <= 1 else None,), "retries", decided, None)


def _librdkafka_producer(reader: Reader) -> dict[str, Knob] | None:
    """librdkafka's own names and defaults: acks all, idempotence off, a million requests in flight. With
    idempotence on, whatever is left to its default is adjusted, and what contradicts it is refused."""
    settings = reader.layers["producer"]
    acks_text, acks_found = _rd_value(settings, "request.required.acks")
    acks = _acks(acks_text, acks_found)
    flight_text, flight_found = _rd_value(settings, "max.in.flight.requests.per.connection")
    retries_text, retries_found = _rd_value(settings, "message.send.max.retries")
    idem_text, idem_found = _rd_value(settings, "enable.idempotence")
    in_flight, retries = (None if one is None else integer(one) for one in (flight_text, retries_text))
    on = (idem_text or "").strip().lower() == "true" or "transactional.id" in settings
    given_flight = flight_found is not None and flight_found.origin.kind != "default"
    if idem_text is None and not given_flight:
        in_flight = 5  # if it turns out to be on; where it is off, 5 reorder as a million do
    if on:
        if acks.values == ("1",) or acks.values == ("0",) or retries == 0:
            return None
        if given_flight and (in_flight or 0) > 5:
            return None
        acks = acks._replace(values=("all",))
        in_flight = in_flight if given_flight else 5
    decided = (("producer", idem_found),) if idem_found is not None else ()
    known = idem_text is not None
    return {
        "acks": acks,
        "in_flight": _numbers("in_flight", "max.in.flight", in_flight, flight_found, (1, 5), 1_000_000),
        "retries": _retries(retries, retries_found),
        "idempotence": Knob(
            "idempotence", (on,) if known else (True, False), "enable.idempotence", decided, False
        ),
    }


def _rd_value(settings: Mapping[str, Setting], name: str) -> tuple[str | None, Setting | None]:
    canonical = librdkafka(name)
    target = (canonical.alias_of or name) if canonical is not None else name
    given = settings.get(target) or settings.get(name)
    if given is not None:
        return (given.value if isinstance(given.value, str) else None), given
    known = librdkafka(target)
    default = "" if known is None or known.default is None else str(known.default).lower()
    return default, Setting(name, default, Origin("default", None, "default of librdkafka"))
