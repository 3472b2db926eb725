# cython: language_level=3, boundscheck=False, wraparound=False, nonecheck=False
"""Reads the leaves of a subtree's objects, and writes the objects as JSON.

The plain path reads columns of values and makes dicts, which orjson writes. Here an object's leaves
are written as they are read; the fields below are inserted at the end. The bytes are orjson's, to
the last.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsLong, PyLong_AsLongAndOverflow
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.string cimport memset

from gateway.execution.fused.layout cimport (
    fetch_object,
    fetch_place,
    fetch_value,
    learn,
    place_of,
)
from gateway.execution.fused.text cimport (
    Text,
    make_room,
    put,
    put_bytes,
    put_int,
    put_string,
)

import orjson

from gateway.execution.run.object_builder import FastPathMiss
from gateway.execution.tasks.frames import without_frame

cdef extern from *:
    object PyObject_GetAttr(object owner, object name)
    PyObject **PySequence_Fast_ITEMS(object items)
    void Py_INCREF(PyObject *value) noexcept
    void Py_DECREF(PyObject *value) noexcept

cdef object dumps = orjson.dumps
cdef object Fragment = orjson.Fragment
cdef enum: ATTRIBUTE, COLUMN, ONE, MANY
cdef enum: STRING, ID, INT, FLOAT, BOOLEAN, OTHER
cdef dict KINDS = {
    "String": STRING, "ID": ID, "Int": INT, "Float": FLOAT, "Boolean": BOOLEAN, "other": OTHER
}
cdef enum: ROOM = 256  # bytes for an object, at first
cdef enum: MOST = 1 << 19  # bytes of an attempt's objects; encode writes larger ones, with rests
cdef enum: STEP = 4  # rows between one step of fetching and the next


cdef class Leaves:
    """The leaves of objects, which were read and written. For each object there is the text before
    each field that is not a leaf, and the text after the last field. The values are kept for the
    plain path."""

    def __cinit__(self):
        self.usual = True

    def __dealloc__(self):
        cdef Py_ssize_t n
        for n in range(self.read):
            Py_DECREF(self.values[n])
        PyMem_Free(self.text.data)
        PyMem_Free(self.ends)
        PyMem_Free(self.values)

    cpdef list columns(self):
        """Returns a column for each leaf: the values that were read."""
        cdef Py_ssize_t row
        cdef int i
        return [
            [<object> self.values[row * self.fields + i] for row in range(self.rows)]
            for i in range(self.fields)
        ]

    cdef int grow(self, Py_ssize_t rows) except -1:
        """Make room for more rows."""
        rows += self.rows
        ends = PyMem_Realloc(self.ends, rows * self.texts * sizeof(Py_ssize_t))
        if ends is NULL:
            raise MemoryError
        self.ends = <Py_ssize_t *> ends
        values = PyMem_Realloc(self.values, rows * self.fields * sizeof(PyObject *))
        if values is NULL:
            raise MemoryError
        self.values = <PyObject **> values
        make_room(&self.text, rows * ROOM - self.text.size)
        return 0

    cdef void keep(self, value) noexcept:
        """Keep the next value that was read."""
        Py_INCREF(<PyObject *> value)
        self.values[self.read] = <PyObject *> value
        self.read += 1

    cdef void end(self) noexcept:
        """Note the end of a text."""
        self.ends[self.begun] = self.text.size
        self.begun += 1

    cdef int put(self, Text *out, Py_ssize_t text) except -1:
        cdef Py_ssize_t start = self.ends[text - 1] if text else 0
        return put(out, self.text.data + start, self.ends[text] - start)


cdef class JsonWriter:
    """The writer of the objects of one type at one place. It is told field by field, `end` last."""

    def __init__(self, int number):
        self.number, self.most, self.room = number, number, ROOM
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
        """Add a leaf that is read from the object. `kind` is a key of KINDS; for "other", `shown`
        coerces a value."""
        cdef Field *field = self._add(ATTRIBUTE, 0)
        self.held += [name, shown]
        field.name, field.shown = <PyObject *> name, <PyObject *> shown
        field.kind, field.nonnull = KINDS[kind], nonnull

    def column(self, int number):
        """Add a column of completed values, one for each object."""
        self._add(COLUMN, number)

    def one(self, JsonWriter writer not None, int number):
        """Add an object field. If the column is set, it has the number of each row's object, and
        None for null."""
        self._below(ONE, writer, number)

    def many(self, JsonWriter writer not None, int number):
        """Add a list field. The column has the lists' lengths."""
        self._below(MANY, writer, number)

    def end(self):
        self.last = bytes(self.text) + b"}"

    cpdef Leaves read(self, objs, Leaves leaves=None):
        """Read and write the leaves of objects, each leaf once. Returns the Leaves; those given are
        extended. What a property raises is kept as its value. The first unusual value ends the
        writing, not the reading."""
        cdef tuple owners = tuple(objs)
        cdef Py_ssize_t count = PyTuple_GET_SIZE(owners)
        if leaves is None:
            leaves = Leaves()
            leaves.texts, leaves.fields = self.others + 1, self.count - self.others
        leaves.grow(count)
        leaves.rows += count
        self.read_rows(leaves, PySequence_Fast_ITEMS(owners), count)
        return leaves

    cpdef list write(self, list columns):
        """Write the writer's own objects, for orjson to include. `columns` has the Leaves of all
        objects. Raises an Exception where a value is unusual."""
        cdef Py_ssize_t n = len(columns), i, total = 0
        cdef list held = []  # what the columns point to
        cdef list made = []
        cdef tuple items
        cdef Text out
        cdef Column *state
        if n <= self.most:
            raise FastPathMiss
        state = <Column *> PyMem_Malloc(n * sizeof(Column))
        out.data = <char *> PyMem_Malloc(self.room)
        try:
            if state is NULL or out.data is NULL:
                raise MemoryError
            out.room = self.room
            memset(state, 0, n * sizeof(Column))
            for i in range(n):
                column = columns[i]
                if type(column) is Leaves:
                    state[i].leaves, state[i].count = <PyObject *> column, (<Leaves> column).rows
                elif column is not None:
                    items = tuple(column)
                    held.append(items)
                    state[i].items = PySequence_Fast_ITEMS(items)
                    state[i].count = PyTuple_GET_SIZE(items)
            for i in range(state[self.number].count):
                out.size = 0
                self.put(&out, state)
                total += out.size
                if total > MOST:
                    raise FastPathMiss
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
        self.others += code != ATTRIBUTE
        field.before, field.size = PyBytes_AS_STRING(before), PyBytes_GET_SIZE(before)
        self.held.append(before)
        self.text = bytearray()
        self.most = max(self.most, number)
        return field

    cdef int _below(self, int code, JsonWriter writer, int number) except -1:
        self._add(code, number).writer = <PyObject *> writer
        self.held.append(writer)
        self.most = max(self.most, writer.most)
        return 0

    cdef int read_rows(self, Leaves leaves, PyObject **owners, Py_ssize_t count) except -1:
        cdef Field *field
        cdef Py_ssize_t row, kept = leaves.read
        cdef int i
        for row in range(-3 * STEP if count > 1 else 0, 0):
            self.fetch(owners, row, count)
        try:
            if leaves.usual:
                for row in range(count):
                    if row + STEP < count:
                        self.fetch(owners, row, count)
                    for i in range(self.count):
                        field = &self.fields[i]
                        put(&leaves.text, field.before, field.size)
                        if field.code == ATTRIBUTE:
                            value = leaf_of(field, owners[row])
                            leaves.keep(value)
                            put_leaf(&leaves.text, field, value)
                        else:
                            leaves.end()
                    put_bytes(&leaves.text, self.last)
                    leaves.end()
                    if leaves.text.size > MOST:
                        raise FastPathMiss
                return 0
        except Exception:
            leaves.usual = False
        kept = leaves.read - kept  # of these rows
        for row in range(kept // leaves.fields, count):
            for i in range(self.count):
                if self.fields[i].code != ATTRIBUTE:
                    continue
                if kept % leaves.fields:
                    kept -= 1
                else:
                    leaves.keep(leaf_of(&self.fields[i], owners[row]))
        return 0

    cdef int put(self, Text *out, Column *state) except -1:
        """Write the next object with everything below it."""
        cdef Column *own = &state[self.number]
        cdef Leaves leaves
        cdef Py_ssize_t row = own.next, text
        cdef int i
        if row < 0 or row >= own.count or own.leaves is NULL:
            raise FastPathMiss
        own.next = row + 1
        leaves = <Leaves> own.leaves
        text = row * leaves.texts
        if leaves.texts != self.others + 1 or text + self.others >= leaves.begun:
            raise FastPathMiss
        for i in range(self.count):
            if self.fields[i].code != ATTRIBUTE:
                leaves.put(out, text)
                put_below(out, &self.fields[i], state, row)
                text += 1
        if out.size > MOST:
            raise FastPathMiss
        return leaves.put(out, text)

    cdef int fetch(self, PyObject **owners, Py_ssize_t row, Py_ssize_t count) except -1:
        """Prefetch the attributes of later rows, each in the step after the pointer to it was
        fetched."""
        cdef int i
        row += STEP
        if 0 <= row < count:
            for i in range(self.count):
                fetch_value(&self.fields[i].layout, owners[row])
        row += STEP
        if 0 <= row < count:
            for i in range(self.count):
                fetch_place(&self.fields[i].layout, owners[row])
        row += STEP
        if 0 <= row < count:
            fetch_object(owners[row])
        return 0


cdef inline object leaf_of(Field *field, PyObject *owner):
    """Returns the value of an attribute, or the Exception that reading it raises."""
    cdef PyObject **place = place_of(&field.layout, owner)
    if place is not NULL and place[0] is not NULL:
        return <object> place[0]
    return looked_up(field, <object> owner)


cdef object looked_up(Field *field, owner):
    try:
        value = PyObject_GetAttr(owner, <object> field.name)
    except Exception as error:
        return without_frame(error)
    learn(&field.layout, owner, <str> field.name)
    return value


cdef inline bint is_usual(Field *field, value):
    """Whether a value can be written as it is. Not for kind OTHER."""
    cdef int overflow
    cdef long number
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


cdef int put_leaf(Text *out, Field *field, value) except -1:
    if value is None and not field.nonnull:
        return put(out, "null", 4)
    if field.kind == OTHER:
        return put_value(out, (<object> field.shown)(value))
    if not is_usual(field, value):
        raise FastPathMiss
    if field.kind == INT:
        return put_int(out, PyLong_AsLong(value))
    if field.kind == STRING or type(value) is str:
        return put_string(out, value)
    return put_string(out, str(value)) if field.kind == ID else put_value(out, value)


cdef int put_below(Text *out, Field *field, Column *state, Py_ssize_t row) except -1:
    cdef Py_ssize_t i
    if field.code == ONE:
        if state[field.number].items is not NULL:
            value = item_of(state, field.number, row)
            if value is None:
                return put(out, "null", 4)
            state[(<JsonWriter> field.writer).number].next = value
        return (<JsonWriter> field.writer).put(out, state)
    value = item_of(state, field.number, row)
    if field.code == COLUMN:
        return put_value(out, value)
    put(out, "[", 1)
    for i in range(<Py_ssize_t> value):
        if i:
            put(out, ",", 1)
        (<JsonWriter> field.writer).put(out, state)
    return put(out, "]", 1)


cdef inline object item_of(Column *state, int number, Py_ssize_t row):
    if row >= state[number].count:
        raise FastPathMiss
    return <object> state[number].items[row]


cdef int put_value(Text *out, value) except -1:
    """Write a completed value."""
    if type(value) is str:
        return put_string(out, value)
    if value is None:
        return put(out, "null", 4)
    if value is True:
        return put(out, "true", 4)
    if value is False:
        return put(out, "false", 5)
    return put_bytes(out, dumps(value))
