"""dev or prod: what a deployment is judged as, and why."""

import re
from typing import NamedTuple

from ..model import Deployment, members_of

_DEV_WORD = re.compile(r"(?<![a-z0-9])(dev|test|local|docker-compose)(?![a-z0-9])", re.IGNORECASE)


class Profile(NamedTuple):
    name: str
    why: str


def profile_of(deployment: Deployment, stated: str | None) -> Profile:
    if stated is not None:
        return Profile(stated, "stated")
    for fact in deployment.facts:
        if fact.name == "cluster.brokers" and fact.value == "1":
            return Profile("dev", f"its cluster has one broker ({fact.origin})")
    for document in members_of(deployment):
        word = _DEV_WORD.search(document.file)
        if word is not None:
            return Profile("dev", f"{document.file} has the word {word[0]}")
    return Profile("prod", "nothing says otherwise")
