# SPDX-License-Identifier: MIT
# What perf's export-to-sqlite.py uses of PySide2.QtSql, by Python's own sqlite3.
import sqlite3


class QSqlDatabase:
    @staticmethod
    def addDatabase(kind):
        return QSqlDatabase()

    def setDatabaseName(self, name):
        self.name = name

    def open(self):
        QSqlDatabase.connection = sqlite3.connect(self.name, isolation_level=None)
        return True


class QSqlQuery:
    def __init__(self, db=None):
        self.values = []

    def prepare(self, text):
        self.text = text
        return True

    def addBindValue(self, value):
        self.values.append(value)

    def exec_(self, text=None):
        QSqlDatabase.connection.execute(text or self.text, self.values)
        self.values = []
        return True
