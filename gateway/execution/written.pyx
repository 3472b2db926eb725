# cython: language_level=3, boundscheck=False, wraparound=False
"""The objects of a subtree written as JSON, straight from their attributes.

What `subtrees` makes as dicts and orjson then writes, in one pass and without the dicts. Where a
value isn't as usual it raises, as the generated code does. The bytes are orjson's, to the last.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLong, PyLong_AsLongAndOverflow
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.string cimport memset

from gateway.execution.layout cimport (
    Layout,
    fetch_object,
    fetch_place,
    fetch_value,
    learn,
    place_of,
)
from gateway.execution.text cimport Text, put, put_bytes, put_int, put_string

import orjson

cdef extern from *:
    object PyObject_GetAttr(object owner, object name)
    PyObject **PySequence_Fast_ITEMS(object items)

cdef object dumps = orjson.dumps
cdef object Fragment = orjson.Fragment
cdef enum: ATTRIBUTE, COLUMN, ONE, MANY
cdef enum: STRING, ID, INT, FLOAT, BOOLEAN, OTHER
cdef dict KINDS = {
    "String": STRING, "ID": ID, "Int": INT, "Float": FLOAT, "Boolean": BOOLEAN, "other": OTHER
}
cdef enum: AHEAD = 4  # rows between one step of fetching and the next


class NotAsUsual(Exception):
    """A value that isn't what it has to be, or a column that is too short."""


cdef struct Column:
    PyObject **items  # NULL: it isn't there
    Py_ssize_t count
    Py_ssize_t next  # of a column of objects: the row of the one that is written next


cdef struct Field:
    int code
    int kind
    bint nonnull
    int number
    const char *before  # the text before it
    Py_ssize_t size
    PyObject *name
    PyObject *shown
    PyObject *form
    Layout layout


cdef class Form:
    """How the objects of one type at one place are written: told field by field, `end` last."""

    cdef int number  # the objects' column
    cdef int most  # the last column that is asked for
    cdef int count
    cdef Field *fields
    cdef list held  # what the fields point to
    cdef bytearray text
    cdef bytes last
    cdef Py_ssize_t room

    def __init__(self, int number):
        self.number, self.most, self.room = number, number, 256
        self.held, self.text = [], bytearray(b"{")

    def __dealloc__(self):
        PyMem_Free(self.fields)

    def key(self, str key):
        """The next field's."""
        if self.count or len(self.text) > 1:
            self.text += b","
        self.text += dumps(key) + b":"

    def constant(self, value):
        self.text += dumps(value)

    def attribute(self, str name, str kind, bint nonnull, shown):
        """A leaf read from the object: one of KINDS; of any "other", `shown` says what is written
        for a value."""
        cdef Field *field = self._add(ATTRIBUTE, 0)
        self.held += [name, shown]
        field.name, field.shown = <PyObject *> name, <PyObject *> shown
        field.kind, field.nonnull = KINDS[kind], nonnull

    def column(self, int number):
        """Values that are written as they are, one for each of the objects."""
        self._add(COLUMN, number)

    def one(self, Form form, int number):
        """An object; where that column is there, null in the rows in which it is null."""
        self._below(ONE, form, number)

    def many(self, Form form, int number):
        """As many objects as the column says."""
        self._below(MANY, form, number)

    def end(self):
        self.last = bytes(self.text) + b"}"

    def foresee(self, objs):
        """Have the processor fetch where the attributes of these objects are: who asks for others
        of them, such as keys, finds those there, too."""
        cdef PyObject **owners
        cdef Py_ssize_t count, row
        cdef int i
        if type(objs) is not list and type(objs) is not tuple:
            return
        owners, count = PySequence_Fast_ITEMS(objs), len(objs)
        for row in range(count):
            fetch_object(owners[row])
        for row in range(count):
            for i in range(self.count):
                fetch_place(&self.fields[i].layout, owners[row])

    def look(self, objs):
        """Raises whatever where a leaf of one of these isn't as usual."""
        cdef tuple owners = tuple(objs)
        cdef Column own
        cdef Field *field
        cdef Py_ssize_t row
        cdef int i
        own.items, own.count = PySequence_Fast_ITEMS(owners), PyTuple_GET_SIZE(owners)
        for row in range(-3 * AHEAD if own.count > 1 else -AHEAD, own.count):
            self.fetch(&own, row)
            for i in range(self.count if row >= 0 else 0):
                field = &self.fields[i]
                if field.code == ATTRIBUTE:
                    look_at(field, leaf_of(field, own.items[row]))

    def write(self, list columns):
        """Each of the form's own objects, for orjson to take over. Raises whatever."""
        cdef Py_ssize_t n = len(columns), i
        cdef tuple rows = tuple([None if each is None else tuple(each) for each in columns])
        cdef list made = []
        cdef Text out
        cdef Column *state
        if n <= self.most:
            raise NotAsUsual
        state = <Column *> PyMem_Malloc(n * sizeof(Column))
        out.data = <char *> PyMem_Malloc(self.room)
        try:
            if state is NULL or out.data is NULL:
                raise MemoryError
            out.room = self.room
            memset(state, 0, n * sizeof(Column))
            for i in range(n):
                if rows[i] is not None:
                    state[i].items = PySequence_Fast_ITEMS(rows[i])
                    state[i].count = PyTuple_GET_SIZE(rows[i])
            self.fetch_first(state)
            for i in range(state[self.number].count):
                out.size = 0
                self.put(&out, state)
                made.append(Fragment(PyBytes_FromStringAndSize(out.data, out.size)))
            self.room = min(out.room, 1 << 16)
        finally:
            PyMem_Free(out.data)
            PyMem_Free(state)
        return made

    cdef Field *_add(self, int code, int number) except NULL:
        cdef Field *field
        cdef bytes before = bytes(self.text)
        field = <Field *> PyMem_Realloc(self.fields, (self.count + 1) * sizeof(Field))
        if field is NULL:
            raise MemoryError
        self.fields = field
        field += self.count
        self.count += 1
        memset(field, 0, sizeof(Field))
        field.code, field.number = code, number
        field.before, field.size = PyBytes_AS_STRING(before), PyBytes_GET_SIZE(before)
        self.held.append(before)
        self.text = bytearray()
        self.most = max(self.most, number)
        return field

    cdef int _below(self, int code, Form form, int number) except -1:
        self._add(code, number).form = <PyObject *> form
        self.held.append(form)
        self.most = max(self.most, form.most)
        return 0

    cdef int put(self, Text *out, Column *state) except -1:
        """The next object."""
        cdef Column *own = &state[self.number]
        cdef Py_ssize_t row = own.next
        cdef PyObject *owner
        cdef Field *field
        cdef int i
        if row >= own.count:
            raise NotAsUsual
        own.next = row + 1
        owner = own.items[row]
        self.fetch(own, row)
        for i in range(self.count):
            field = &self.fields[i]
            put(out, field.before, field.size)
            if field.code != ATTRIBUTE:
                put_below(out, field, state, row)
                continue
            put_leaf(out, field, leaf_of(field, owner))
        return put_bytes(out, self.last)

    cdef int fetch(self, Column *own, Py_ssize_t row) except -1:
        """Have the processor fetch what is read of later rows, each thing when what leads to it
        has come."""
        cdef int i
        row += AHEAD
        if 0 <= row < own.count:
            for i in range(self.count):
                fetch_value(&self.fields[i].layout, own.items[row])
        row += AHEAD
        if 0 <= row < own.count:
            for i in range(self.count):
                fetch_place(&self.fields[i].layout, own.items[row])
        row += AHEAD
        if 0 <= row < own.count:
            fetch_object(own.items[row])
        return 0

    cdef int fetch_first(self, Column *state) except -1:
        """The same for the first rows."""
        cdef Py_ssize_t row
        cdef int i
        for row in range(-3 * AHEAD, 0):
            self.fetch(&state[self.number], row)
        for i in range(self.count):
            if self.fields[i].form is not NULL:
                (<Form> self.fields[i].form).fetch_first(state)
        return 0


cdef inline object leaf_of(Field *field, PyObject *owner):
    cdef PyObject **place = place_of(&field.layout, owner)
    if place is not NULL and place[0] is not NULL:
        return <object> place[0]
    value = PyObject_GetAttr(<object> owner, <object> field.name)
    learn(&field.layout, <object> owner, <str> field.name)
    return value


cdef inline bint is_usual(Field *field, value):
    """Of none but the kind that only `shown` knows."""
    cdef int overflow
    cdef long number
    if value is None:
        return not field.nonnull
    if field.kind == STRING:
        return type(value) is str
    if field.kind == ID:
        return type(value) is str or type(value) is int
    if field.kind == INT:
        if type(value) is not int:
            return False
        number = PyLong_AsLongAndOverflow(value, &overflow)
        return not overflow and -(1 << 31) <= number < 1 << 31
    if field.kind == BOOLEAN:
        return type(value) is bool
    return type(value) is float and <double> value - <double> value == 0.0  # finite


cdef int look_at(Field *field, value) except -1:
    if field.kind != OTHER:
        if not is_usual(field, value):
            raise NotAsUsual
    elif value is not None or field.nonnull:
        (<object> field.shown)(value)
    return 0


cdef int put_leaf(Text *out, Field *field, value) except -1:
    if value is None and not field.nonnull:
        return put(out, "null", 4)
    if field.kind == OTHER:
        return put_value(out, (<object> field.shown)(value))
    if not is_usual(field, value):
        raise NotAsUsual
    if field.kind == INT:
        return put_int(out, PyLong_AsLong(value))
    if field.kind == STRING or type(value) is str:
        return put_string(out, value)
    return put_string(out, str(value)) if field.kind == ID else put_value(out, value)


cdef int put_below(Text *out, Field *field, Column *state, Py_ssize_t row) except -1:
    cdef Form form = None if field.form is NULL else <Form> field.form
    cdef Py_ssize_t i
    if field.code == ONE:
        if state[field.number].items is not NULL and item_of(state, field.number, row) is None:
            return put(out, "null", 4)
        return form.put(out, state)
    value = item_of(state, field.number, row)
    if field.code == COLUMN:
        return put_value(out, value)
    put(out, "[", 1)
    for i in range(<Py_ssize_t> value):
        if i:
            put(out, ",", 1)
        form.put(out, state)
    return put(out, "]", 1)


cdef inline object item_of(Column *state, int number, Py_ssize_t row):
    if row >= state[number].count:
        raise NotAsUsual
    return <object> state[number].items[row]


cdef int put_value(Text *out, value) except -1:
    """What stands in the response."""
    if type(value) is str:
        return put_string(out, value)
    if value is None:
        return put(out, "null", 4)
    if value is True:
        return put(out, "true", 4)
    if value is False:
        return put(out, "false", 5)
    return put_bytes(out, dumps(value))
