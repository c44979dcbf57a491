"""The package as its manifest, its sources and its symbol graphs describe it: what `api` and `counts` print."""

import glob
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("TARGETKIT_BUILD", os.path.join(ROOT, ".build"))

# Comments and literals: what is neither is code. A raw string's hash marks are those that open it.
_TOKEN = re.compile(
    r"//[^\n]*|(?P<comment>/\*)"
    r'|(?P<raw>\#+)(?:"""(?:.|\n)*?"""|"[^"\n]*")(?P=raw)'
    r'|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


def output(*command):
    """What a command prints; its errors go to standard error."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def _end_of_comment(text, start):
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def without_comments(text, literals=True):
    """Swift code without its comments, and without what its literals hold unless `literals` is true. Lines stay lines."""
    parts, place = [], 0
    while match := _TOKEN.search(text, place):
        parts.append(text[place : match.start()])
        place = _end_of_comment(text, match.start()) if match["comment"] else match.end()
        token = text[match.start() : place]
        if token.startswith("/"):
            parts.append(" " + "\n" * token.count("\n"))
        else:
            parts.append(token if literals else '""' + "\n" * token.count("\n"))
    return "".join(parts) + text[place:]


class Target:
    """A library target of the package."""

    _PACKAGE = re.compile(
        r"\bpackage\s+(?:@?\w+(?:\([^)]*\))?\s+)*?"
        r"(?:func|var|let|init|subscript|struct|class|enum|protocol|actor|typealias|extension|macro)\b"
    )

    def __init__(self, description):
        self.name = description["name"]
        self.folder = description["path"]
        self.dependencies = description.get("target_dependencies", [])
        self.is_swift = description["module_type"] == "SwiftTarget"
        names = description["sources"] if self.is_swift else sorted(os.listdir(os.path.join(ROOT, self.folder)))
        self.files = [os.path.join(self.folder, name) for name in names if name.endswith((".swift", ".h"))]

    def texts(self):
        for name in self.files:
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                yield file.read()

    def code_lines(self):
        """The lines that are neither blank nor comment. Those of C are those of its headers."""
        return sum(bool(line.strip()) for text in self.texts() for line in without_comments(text).splitlines())

    def package_declarations(self):
        return sum(len(self._PACKAGE.findall(without_comments(text, literals=False))) for text in self.texts())

    def unavailable_names(self):
        """The declarations that exist for their message alone. Symbol graphs omit them."""
        mark = re.compile(r"@available\s*\(\s*\*\s*,\s*unavailable")
        return sum(len(mark.findall(without_comments(text, literals=False))) for text in self.texts())

    def graphs(self, level):
        """The symbol graph of the module, and those of its extensions, by the name of the module that they extend."""
        module = os.path.join(BUILD, "debug", "Modules", self.name + ".swiftmodule")
        if not os.path.exists(module):
            raise SystemExit(f"error: {self.name} isn't built. Run: swift build")
        # A change within a function leaves the module as it is, a file that was only touched also the objects, but not the
        # record of what the compiler looked at.
        folder = os.path.join(BUILD, "debug", self.name + ".build")
        records = [path for kind in ("o", "priors") for path in glob.glob(os.path.join(folder, "*." + kind))]
        built = max(os.stat(path).st_mtime for path in records + [module])
        newest = max(self.files, key=lambda name: os.stat(os.path.join(ROOT, name)).st_mtime)
        if os.stat(os.path.join(ROOT, newest)).st_mtime > built:
            raise SystemExit(f"error: {newest} is newer than the build. Run: swift build")
        info = json.loads(output("swift", "-print-target-info"))
        with tempfile.TemporaryDirectory() as folder:
            output(
                "swift", "symbolgraph-extract", "-module-name", self.name, "-target", info["target"]["triple"],
                "-I", os.path.join(BUILD, "debug", "Modules"), "-I", "Sources/CTargetKitCurl",
                "-minimum-access-level", level, "-output-dir", folder,
            )  # fmt: skip
            graphs = {}
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    graphs[name.removesuffix(".symbols.json").partition("@")[2]] = json.load(file)
            return graphs

    def declares(self, symbol):
        """Whether a symbol stands in the sources. Synthesized ones and those of modules that this one exports don't."""
        place = symbol.get("location", {}).get("uri", "")
        return f"/{self.folder}/" in place


class Package:
    """The library targets and products, in the order of the manifest."""

    def __init__(self):
        # In a folder of its own: SwiftPM locks the build's for as long as tests run.
        with tempfile.TemporaryDirectory() as scratch:
            description = json.loads(
                output("swift", "package", "--scratch-path", scratch, "describe", "--type", "json")
            )
        targets = {target["name"]: target for target in description["targets"]}
        self.products = {
            product["name"]: product["targets"] for product in description["products"] if "library" in product["type"]
        }
        self.targets = {}
        for names in self.products.values():
            for name in names:
                self._add(name, targets)

    def _add(self, name, targets):
        if name in self.targets:
            return
        for dependency in targets[name].get("target_dependencies", []):
            self._add(dependency, targets)
        self.targets[name] = Target(targets[name])

    def imported(self, product):
        """The targets that an import of a product compiles: its own, and everything below them."""
        found, waiting = {}, list(self.products[product])
        while waiting:
            target = self.targets[waiting.pop()]
            if target.name not in found:
                found[target.name] = target
                waiting += target.dependencies
        return list(found.values())
