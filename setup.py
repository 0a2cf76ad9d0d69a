"""Which folder is which package; everything else about the distribution is in pyproject.toml."""

from setuptools import find_packages, setup

CODE = ["kernel", "dsl", "plugins"]
DATA = ["grammar", "expansions"]

setup(
    packages=[f"longbox.{folder}" for folder in CODE + DATA]
    + [f"longbox.{folder}.{package}" for folder in CODE for package in find_packages(folder)],
    package_dir={f"longbox.{folder}": folder for folder in CODE + DATA},
)
