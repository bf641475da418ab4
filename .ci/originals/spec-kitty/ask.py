"""Asks the command line of spec-kitty: a line with a folder and commands comes in, a line with their results goes out.

The commands are run in this process, since importing the program takes a third of a second each time.
"""
import json
import os
import sys

from specify_cli import app
from typer.testing import CliRunner


def first_json(text):
    """What the command says to programs stands in a line of its own, or in several; the words before it do not."""
    decoder = json.JSONDecoder()
    at = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("{"):
            try:
                return decoder.raw_decode(text, at)[0]
            except json.JSONDecodeError:
                pass
        at += len(line)
    return None


def ask(words):
    env = {}
    if words[:2] == ["agent", "feature"]:
        # These commands have no option for the feature.
        at = words.index("--feature")
        env["SPECIFY_FEATURE"] = words[at + 1]
        words = words[:at] + words[at + 2 :]
    result = CliRunner().invoke(app, words, env=env)
    told = first_json(result.output)
    if result.exit_code != 0 or told is None or "error" in told:
        return {"raised": (told or {}).get("error") or result.output[-400:] or repr(result.exception)}
    return told


for line in sys.stdin:
    wanted = json.loads(line)
    os.chdir(wanted["folder"])
    answers = [ask(words) for words in wanted["commands"]]
    sys.__stdout__.write(json.dumps(answers) + "\n")
    sys.__stdout__.flush()
