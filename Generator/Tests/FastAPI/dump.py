# SPDX-License-Identifier: MIT
"""Writes the documents of the three APIs.

    python dump.py FOLDER

Writes FOLDER/shop.json, library.json and admin.json, the same bytes each time, and prints how many operations each has.
"""

import json
import pathlib
import sys

import admin
import library
import shop

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, app in {"shop": shop.app, "library": library.app, "admin": admin.admin}.items():
        document = app.openapi()
        count = sum(method in METHODS for path in document["paths"].values() for method in path)
        (folder / f"{name}.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        print(f"{name}.json: {count} operations")


if __name__ == "__main__":
    main()
