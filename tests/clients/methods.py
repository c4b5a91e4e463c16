"""The public methods of a client, found by introspection, and their calls by the checks.

A method counts as called if it returned a result in a passed check. A method that only raises `NotImplementedError`
counts as rejected by the client itself, because it never sends a request.
"""

import ast
import enum
import functools
import importlib
import inspect
import pkgutil
import textwrap
import types


class Methods:
    """Watches the public methods of every class of a package."""

    def __init__(self, package):
        self.all, self.refusing = set(), set()
        self.called, self._called_now = set(), set()
        for owner in self._classes(package):
            for name in dir(owner):
                if not name.startswith("_") and callable(getattr(owner, name)):
                    self._watch(owner, name)

    @staticmethod
    def _classes(package):
        """Returns the classes for users: without base classes, enumerations, dicts and errors."""
        root = importlib.import_module(package)
        modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(root.__path__, f"{package}.")]
        found = {value for module in (root, *modules) for value in vars(module).values()
                 if inspect.isclass(value) and value.__module__.startswith(package)}
        bases = {base for each in found for base in each.__mro__[1:]}
        def plain(each):
            return not issubclass(each, (Exception, enum.Enum, dict))

        return sorted((each for each in found - bases if plain(each)), key=lambda each: each.__qualname__)

    def _watch(self, owner, name):
        held = inspect.getattr_static(owner, name)
        function = held.__func__ if isinstance(held, (staticmethod, classmethod)) else held
        if not isinstance(function, types.FunctionType):
            return
        method = f"{owner.__qualname__}.{name}"
        self.all.add(method)
        if only_refuses(function):
            self.refusing.add(method)
        watched = self._watched(method, function)
        kind = type(held) if isinstance(held, (staticmethod, classmethod)) else None
        setattr(owner, name, kind(watched) if kind else watched)

    def _watched(self, method, function):
        @functools.wraps(function)
        def call(*arguments, **named):
            result = function(*arguments, **named)
            if isinstance(result, types.GeneratorType):
                return self._through(method, result)
            self._called_now.add(method)
            return result

        return call

    def _through(self, method, rows):
        """Yields the rows of a list. The method counts as called after its first row, or at the end."""
        for row in rows:
            self._called_now.add(method)
            yield row
        self._called_now.add(method)

    def judge(self, passed):
        """Counts the calls of a finished check, if it passed."""
        if passed:
            self.called |= self._called_now
        self._called_now.clear()

    def told(self):
        """Returns the outcome of each method."""
        def outcome(method):
            if method in self.called:
                return "pass"
            return "refuses" if method in self.refusing else "uncalled"

        return {method: outcome(method) for method in sorted(self.all)}


def only_refuses(function):
    """Returns whether a method always ends in `raise NotImplementedError`."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    last = definition.body[-1]
    returns = any(isinstance(node, ast.Return) for node in ast.walk(definition))
    raised = last.exc if isinstance(last, ast.Raise) else None
    name = raised.func if isinstance(raised, ast.Call) else raised
    return not returns and isinstance(name, ast.Name) and name.id == "NotImplementedError"
