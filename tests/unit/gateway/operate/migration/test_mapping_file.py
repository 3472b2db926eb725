"""Faults that a mapping file shows by itself."""

from pathlib import Path

import pytest

from gateway.operate.migration.mapping import BadMapping, read_mapping

WHOLE = """\
name: old-site
source: mysql://reader@127.0.0.1/old
tables:
  - table: members
    becomes: user
    columns:
      key: id
      username: login
"""


def faults(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "m.yaml"
    file.write_text(text)
    with pytest.raises(BadMapping) as found:
        read_mapping(file)
    return [fault.removeprefix(f"{file}:") for fault in found.value.faults]


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(WHOLE)
    [table] = read_mapping(file).tables
    assert (table.table, table.becomes, table.columns["username"].column) == (
        "members",
        "user",
        "login",
    )


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("becomes: user", "becomes: usr", "5: tables[0].becomes: 'usr' is not a kind of object"),
        ("username: login", "usrname: login", "8: tables[0].columns.usrname: 'usrname' is not"),
        ("      username: login\n", "", "6: tables[0].columns: a user needs the field username"),
        ("username: login", "key: login", "8: tables[0].columns.key is there already, in line 7"),
        ("name: old-site", "name: Old Site", "1: name: Expected a name of 1 to 30 letters"),
        ("name: old-site", "nam: old-site", "1: Object contains unknown field `nam`: use name, "),
        ("reader@", "reader:pw@", "2: source: mysql://reader:***@127.0.0.1/old can't be read"),
        ("reader@", "", "2: source: mysql://127.0.0.1/old can't be read: the user"),
        ("127.0.0.1/old", "127.0.0.1", "2: source: mysql://***@127.0.0.1 can't be read: it names"),
        ("mysql:", "postgres:", "2: source: postgres://***@127.0.0.1/old is no source"),
        (
            "username: login",
            "username: {column: login, charset: hex}",
            "8: tables[0].columns.username.charset: 'hex' is no encoding of text",
        ),
        (
            "username: login",
            "username: {column: login, unit: seconds}",
            "8: tables[0].columns.username.unit: username is a user name: only a time has unit",
        ),
        (
            "becomes: user\n    columns:\n      key: id\n      username: login",
            "becomes: like\n    columns: {user: a, pin: b}",
            "6: tables[0].columns.user: it is the old id of a user, and no table becomes a user",
        ),
        (
            "username: login",
            "username: {column: login, charset: idna}",
            "8: tables[0].columns.username.charset: 'idna' is no encoding of text",
        ),
        ("username: login", "username: [", "9: "),
        ("username: login", 'username: "\\ud800"', "8: '\\ud800' is no text of Unicode"),
        ("username: login", '"\\ud800": login', "8: '\\ud800' is no text of Unicode"),
    ],
)
def test_a_fault_names_line_path_and_remedy(
    tmp_path: Path, before: str, after: str, fault: str
) -> None:
    assert before in WHOLE
    found = faults(tmp_path, WHOLE.replace(before, after))
    assert found[0].startswith(fault), found


def test_all_faults_of_a_file_are_found(tmp_path: Path) -> None:
    text = WHOLE.replace("reader@", "").replace("username: login", "name: login")
    assert len(faults(tmp_path, text)) == 2


def test_a_file_of_aliases_that_would_grow_without_bound_is_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for n in range(1, 12):
        last, name = f"a{n - 1}" if n > 1 else "a", f"a{n}"
        bomb += f"{name}: &{name} [{', '.join([f'*{last}'] * 10)}]\n"
    assert "alias" in faults(tmp_path, WHOLE + bomb)[0]
