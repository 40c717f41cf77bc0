# SPDX-License-Identifier: MIT
# sql_viewer.py VIEWER DATABASE: what perf's exported-sql-viewer.py shows of a database: its own code reads
# it, without Qt, for which there are stand-ins.  Prints lines "tree DEPTH NAME FILE BEGIN DURATION",
# "graph DEPTH NAME FILE CALLS DURATION", "branches TIME CPU COMM PID TID TYPE IN_TX FROM -> TO",
# "table NAME ROWS", and "top ROWS".
import re
import sqlite3
import sys
import types


class Meta(type):
    def __getattr__(cls, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Anything()


class Anything(metaclass=Meta):
    def __init__(self, *args, **words):
        pass

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args, **words):
        return Anything()


class Query:
    def __init__(self, db):
        self.db = db

    def exec_(self, text):
        self.rows = self.db.execute(text)
        return True

    def next(self):
        self.row = self.rows.fetchone()
        return self.row is not None

    def value(self, column):
        return self.row[column]


class Fetcher:
    """All rows at once, instead of by a process of its own."""
    done = Anything()

    def __init__(self, glb, text, prepare, *args):
        self.query, self.last, self.prepare = Query(glb.db), -1, prepare
        fetched.clear()
        while '$$last_id$$' in text or not fetched:
            self.query.exec_(text.replace('$$last_id$$', str(self.last)))
            before = len(fetched)
            while self.query.next():
                fetched.append(prepare(self.query))
                self.last = self.query.value(0)
            if len(fetched) == before:
                break

    def Fetch(self, size):
        pass


fetched = []
source = open(sys.argv[1]).read()
stand_ins = {name: type(name, (Anything,), {}) for name in re.findall(r'\bQ(?:[A-Z]\w*|t)\b', source)}
stand_ins.update(QSqlQuery=Query, Signal=Anything)
for name in ['PySide2'] + ['PySide2.Qt' + part for part in ('Core', 'Gui', 'Sql', 'Widgets')] + ['libxed']:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(stand_ins, LibXED=Anything, Signal=Anything)
database = sys.argv[2]
viewer = {'__name__': 'viewer'}
exec(compile(source, sys.argv[1], 'exec'), viewer)
viewer['SQLFetcher'] = Fetcher
glb = types.SimpleNamespace(db=sqlite3.connect(database), dbref=types.SimpleNamespace(is_sqlite3=True, TRUE='1'))
params = viewer['CallGraphModelParams'](glb)


def walk(word, item, depth, columns):
    for i in range(max(item.childCount(), 0)):
        child = item.getChildItem(i)
        if depth >= 0:
            print(word, depth, *[child.getData(column) for column in columns])
        walk(word, child, depth + 1, columns)


walk('graph', viewer['CallGraphRootItem'](glb, params), -2, (0, 1, 2, 3))
walk('tree', viewer['CallTreeRootItem'](glb, params), -2, (0, 1, 2, 3))
for number, event in enumerate(viewer['GetEventList'](glb.db)):
    viewer['BranchModel'](glb, number + 1, '')
    for row in fetched:
        print(event, *row[1:8], row[-1].strip())
for name in viewer['GetTableList'](glb):
    viewer['SQLAutoTableModel'](glb, name)
    print('table', name, len(fetched))
viewer['TopCallsModel'](glb, types.SimpleNamespace(limit='', where_clause=''))
print('top', len(fetched))
