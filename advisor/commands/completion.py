"""Print what a shell needs to complete commands, options, rules, settings, versions and branches on Tab."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

from . import show

EPILOG = """\
examples:
  eval "$(kafka-advisor completion bash)"                                   in ~/.bashrc
  eval "$(kafka-advisor completion zsh)"                                    in ~/.zshrc, after compinit
  kafka-advisor completion fish > ~/.config/fish/completions/kafka-advisor.fish

exit codes: 0 printed, 2 no such shell
"""
SCRIPTS = {
    # A word that needs more behind it (`--report sarif=`, `--set topic.`) is not ended with a space.
    "bash": """\
_kafka_advisor() {
  local IFS=$'\\n'
  COMPREPLY=($("$1" completion bash --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace
  return 0
}
complete -o default -F _kafka_advisor kafka-advisor""",
    "zsh": """\
_kafka_advisor() {
  local -a found
  found=(${(f)"$("${words[1]}" completion zsh --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#found} == 0 )); then _files
  elif [[ ${#found} -eq 1 && ${found[1]} == *[=.] ]]; then compadd -S '' -- $found
  else compadd -- $found
  fi
}
compdef _kafka_advisor kafka-advisor""",
    "fish": """\
function __kafka_advisor
  set -l words (commandline -opc)
  $words[1] completion fish --complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c kafka-advisor -a '(__kafka_advisor)'""",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="bash, zsh or fish")
    # What the script asks: the words so far, the last one unfinished.
    parser.add_argument("--complete", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    if args.complete is None:
        show(SCRIPTS[args.shell])
        return 0
    words, cut = _joined(args.complete) if args.shell == "bash" else (list(args.complete), 0)
    found = [word[cut:] for word in candidates(words)]
    if found:
        show("\n".join(dict.fromkeys(found)))
    return 0


def _joined(words: Sequence[str]) -> tuple[list[str], int]:
    """bash takes words apart at `=`: as they were typed, and how much of the last one bash takes for done."""
    whole: list[str] = []
    cut = 0
    for number, word in enumerate(words):
        if whole and (word == "=" or words[number - 1] == "="):
            cut = len(whole[-1]) if word != "=" else len(whole[-1]) + 1
            whole[-1] += word
        else:
            whole.append(word)
            cut = 0
    return whole, cut


def candidates(words: Sequence[str]) -> list[str]:
    """What the last of the words can become; nothing where it is a file, which shells know themselves."""
    from . import COMMANDS, parser_of

    *before, current = words or [""]
    if not before:
        return _starting(current, [*COMMANDS, "--help", "--version"])
    if before[0] not in COMMANDS:
        return []
    parser = parser_of(before[0])
    actions = parser._option_string_actions
    option, equals, value = current.partition("=")
    if equals and option in actions:
        return [f"{option}={one}" for one in _values(before[0], actions[option], value)]
    last = actions.get(before[-1])
    if last is not None and last.nargs != 0:
        return _values(before[0], last, current)
    if current.startswith("-"):
        return _starting(current, [name for name in actions if name.startswith("--")])
    positional = next((one for one in parser._actions if not one.option_strings), None)
    return _values(before[0], positional, current) if positional is not None else []


def _values(command: str, action: argparse.Action, current: str) -> list[str]:
    if action.choices is not None:
        return _starting(current, map(str, action.choices))
    if action.dest in ("select", "ignore"):
        done, comma, last = current.rpartition(",")
        return [f"{done}{comma}{one}" for one in _starting(last, _rules(last))]
    find = _FINDERS.get((command, action.dest)) or _FINDERS.get(action.dest)
    return _starting(current, find(current)) if find is not None else []


def _starting(start: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(start)]


def _rules(current: str) -> list[str]:
    from ..memo.cache import open_cache
    from ..packs.pack import load_packs
    from ..registry import load_registry

    rules = load_packs(load_registry([]).packs, [], open_cache(True))
    # A name is asked for by its first letter; a list of all would hide the codes.
    return [*(rule.code for rule in rules), *(rule.name for rule in rules if current)]


def _keys() -> dict[str, list[str]]:
    from ..catalog import COMPONENTS, NEWEST, keys

    return {component: list(keys(component, NEWEST)) for component in COMPONENTS}


def _words_to_explain(current: str) -> list[str]:
    named = dict.fromkeys(key for names in _keys().values() for key in names)
    return [*_rules(current), *(named if current else ())]


def _settings(current: str) -> list[str]:
    component, dot, _ = current.partition(".")
    found = _keys()
    return (
        [f"{component}.{key}=" for key in found.get(component, ())] if dot else [f"{one}." for one in found]
    )


def _reports(current: str) -> list[str]:
    from ..registry import load_registry

    return sorted(load_registry([]).reporters)


def _versions(current: str) -> list[str]:
    from ..catalog import RELEASES

    return list(dict.fromkeys(".".join(one.split(".")[:2]) for one in RELEASES))


def _branches(current: str) -> list[str]:
    import re
    import subprocess

    words = ["git", "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"]
    try:
        listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
    except OSError:
        return []
    # A name goes into the command line as it is: nothing that a shell would act on.
    return [name for name in listed if re.fullmatch(r"[\w./+-]+", name)]


_FINDERS: dict[object, Callable[[str], list[str]]] = {
    ("explain", "word"): _words_to_explain,
    ("audit", "format"): _reports,
    ("compare", "format"): _reports,
    ("audit", "report"): lambda current: [f"{name}=" for name in _reports(current)],
    ("compare", "report"): lambda current: [f"{name}=" for name in _reports(current)],
    "kafka_version": _versions,
    "from_version": _versions,
    "to_version": _versions,
    "set": _settings,
    "what_if": lambda current: ["roll", "outage=30s", "rack"],
    "diff_base": _branches,
}
