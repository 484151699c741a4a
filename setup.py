"""What pyproject.toml cannot say: the packages, found in the tree, under the names they ship by.

`plugins/` ships as kafka_advisor_plugins and `rules/` as kafka_advisor_rules; the table package-dir in
pyproject.toml maps the names back to the folders. setuptools' own search knows folder names alone, and a list
by hand loses a new sub-package silently.
"""

from setuptools import find_packages, setup

SHIPPED = {"advisor": "advisor", "plugins": "kafka_advisor_plugins", "rules": "kafka_advisor_rules"}

setup(
    packages=[
        name + package.removeprefix(folder)
        for folder, name in SHIPPED.items()
        for package in find_packages(include=[folder, f"{folder}.*"])
    ]
)
