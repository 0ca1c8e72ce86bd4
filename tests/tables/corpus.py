"""Awkward tables, tiny each: what is in the file, and how it has to be read or in which words refused.

An `Awkward` with `columns` has to be read with exactly these names and values, one with `refused` has to be refused in
one sentence that matches it. `said` are pieces of the notes; a file that is ordinary must be read without any.
"""

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Awkward:
    """A file by its name and content, and what has to come of it."""

    name: str
    content: bytes | Callable[[Path], None]
    columns: dict[str, list[Any]] | None = None
    refused: str = ""
    said: tuple[str, ...] = ()
    first_row: int = 2
    options: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def write(self, folder: Path) -> Path:
        """The file, written to a folder of its own."""
        path = folder / self.name
        if isinstance(self.content, bytes):
            path.write_bytes(self.content)
        else:
            self.content(path)
        return path

    @property
    def id(self) -> str:
        return f"{self.name}{' ' + self.note if self.note else ''}"


def text(name: str, content: str | bytes, columns: dict[str, list[Any]], *said: str, **more: Any) -> Awkward:
    return Awkward(name, content if isinstance(content, bytes) else content.encode(), columns, said=said, **more)


def bad(name: str, content: str | bytes | Callable[[Path], None], refused: str, **more: Any) -> Awkward:
    return Awkward(name, content.encode() if isinstance(content, str) else content, refused=refused, **more)


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_csv", ".csv"), content)
    return buffer.getvalue()


PLAIN = "length,width,species\n1.5,2,cat\n2.5,3,dog\n3.25,4,cat\n"
PLAIN_COLUMNS: dict[str, list[Any]] = {
    "length": [1.5, 2.5, 3.25],
    "width": [2, 3, 4],
    "species": ["cat", "dog", "cat"],
}
NAMES = "name,n\nMüller,1\nGonzález,2\nØrsted,3\n"
NAMES_COLUMNS: dict[str, list[Any]] = {"name": ["Müller", "González", "Ørsted"], "n": [1, 2, 3]}
COMMA = "length;width;species\n1,5;2;cat\n2,5;3;dog\n3,25;4;cat\n"
LONG = 30_000

SEPARATORS = [
    text("plain.csv", PLAIN, PLAIN_COLUMNS),
    text("semicolon.csv", PLAIN.replace(",", ";"), PLAIN_COLUMNS, "';'"),
    text("tab.tsv", PLAIN.replace(",", "\t"), PLAIN_COLUMNS),
    text("tab.csv", PLAIN.replace(",", "\t"), PLAIN_COLUMNS, "tab"),
    text("pipe.txt", PLAIN.replace(",", "|"), PLAIN_COLUMNS, "'|'"),
    text("caret.csv", PLAIN.replace(",", "^"), PLAIN_COLUMNS, "'^'"),
    text("caret_told.csv", PLAIN.replace(",", "^"), PLAIN_COLUMNS, options={"sep": "^"}),
    text("spaces.txt", PLAIN.replace(",", " "), PLAIN_COLUMNS, "space"),
    text(
        "aligned.data",
        "  5.1   3.5  setosa\n  4.9   3.0  setosa\n 16.3  12.9  virginica\n",
        {"column 1": [5.1, 4.9, 16.3], "column 2": [3.5, 3.0, 12.9], "column 3": ["setosa", "setosa", "virginica"]},
        "spaces",
        "no header",
        first_row=1,
    ),
    text("comma_space.csv", PLAIN.replace(",", ", "), PLAIN_COLUMNS, note="a space after each comma"),
    text("excel_sep.csv", "sep=;\n" + PLAIN.replace(",", ";"), PLAIN_COLUMNS, "';'", "sep=;", first_row=3),
    bad("excel_sep_cut.csv", "sep=;\nlength;width;species\n1.5;2", "Line 2 .* has 3 cells"),
    text("one_column.csv", "x\n1\n2\n3\n", {"x": [1, 2, 3]}),
    text(
        "commas_in_text.csv",
        "a;b;c\nx, y, z;1;u\nv, w, q;2;u\nr, s, t;3;v\n",
        {"a": ["x, y, z", "v, w, q", "r, s, t"], "b": [1, 2, 3], "c": ["u", "u", "v"]},
        "';'",
    ),
]

QUOTES = [
    text(
        "quoted_commas.csv",
        'city,n\n"Paris, France",1\n"Rome, Italy",2\n',
        {"city": ["Paris, France", "Rome, Italy"], "n": [1, 2]},
    ),
    text("quoted_lines.csv", 'text,n\n"two\nlines",1\n"one",2\n', {"text": ["two\nlines", "one"], "n": [1, 2]}),
    text(
        "doubled_quotes.csv",
        'text,n\n"say ""hi""",1\n"plain",2\n',
        {"text": ['say "hi"', "plain"], "n": [1, 2]},
    ),
    text(
        "single_quotes.csv",
        "text,n\n'Paris, France',1\n'Rome, Italy',2\n",
        {"text": ["Paris, France", "Rome, Italy"], "n": [1, 2]},
        "quote",
    ),
    text(
        "backslash_quotes.csv",
        'text,n\n"say \\"hi, you\\"",1\n"plain",2\n',
        {"text": ['say "hi, you"', "plain"], "n": [1, 2]},
        "backslash",
    ),
    text(
        "inch.csv",
        'pipe,n\n5" pipe,1\n7" pipe,2\nhose,3\n',
        {"pipe": ['5" pipe', '7" pipe', "hose"], "n": [1, 2, 3]},
        note="a quote inside a field",
    ),
    text(
        "apostrophes.csv",
        "name,n\nO'Brien,1\nD'Arcy,2\n'Tis,3\n",
        {"name": ["O'Brien", "D'Arcy", "'Tis"], "n": [1, 2, 3]},
    ),
    text('all "quoted"; [1] *?.csv', '"a","b"\n"1","x"\n"2","y"\n', {"a": [1, 2], "b": ["x", "y"]}),
    text(
        "late_quote.csv", "a,b\n" + "1,x\n" * LONG + '2,"y, z"\n', {"a": [1] * LONG + [2], "b": ["x"] * LONG + ["y, z"]}
    ),
]

ENCODINGS = [
    text("bom.csv", b"\xef\xbb\xbf" + NAMES.encode(), NAMES_COLUMNS),
    text("utf16.csv", NAMES.encode("utf-16"), NAMES_COLUMNS, "UTF-16"),
    text("utf16_be.csv", b"\xfe\xff" + NAMES.encode("utf-16-be"), NAMES_COLUMNS, "UTF-16"),
    text("utf16_without_mark.txt", NAMES.encode("utf-16-le"), NAMES_COLUMNS, "UTF-16"),
    text("latin1.csv", NAMES.encode("latin-1"), NAMES_COLUMNS, "cp1252"),
    text(
        "cp1252.csv",
        "price,n\n5 €,1\n“six” €,2\n".encode("cp1252"),
        {"price": ["5 €", "“six” €"], "n": [1, 2]},
        "cp1252",
    ),
    text(
        "cp1250_told.csv",
        "name,n\nŁódź,1\nWrocław,2\n".encode("cp1250"),
        {"name": ["Łódź", "Wrocław"], "n": [1, 2]},
        options={"encoding": "cp1250"},
    ),
    text(
        "late_latin1.csv",
        ("name,n\n" + "Muller,1\n" * LONG + "Müller,2\n").encode("latin-1"),
        {"name": ["Muller"] * LONG + ["Müller"], "n": [1] * LONG + [2]},
        "cp1252",
    ),
    text("emoji.csv", "größe,標籤\n1,😀\n2,猫\n", {"größe": [1, 2], "標籤": ["😀", "猫"]}),
]

LINES = [
    text("crlf.csv", PLAIN.replace("\n", "\r\n"), PLAIN_COLUMNS),
    text("cr.csv", PLAIN.replace("\n", "\r"), PLAIN_COLUMNS),
    text("mixed_ends.csv", PLAIN.replace("\n", "\r\n", 2), PLAIN_COLUMNS),
    text("no_last_end.csv", PLAIN.rstrip(), PLAIN_COLUMNS),
    text("blank_first.csv", "\n\n" + PLAIN, PLAIN_COLUMNS, "skipped", first_row=4),
    text("blank_between.csv", PLAIN.replace("2.5", "\n2.5") + "\n\n", PLAIN_COLUMNS, "blank"),
    text(
        "preamble.csv",
        "Measured by station 7\nExported 2024-01-01\n\n" + PLAIN,
        PLAIN_COLUMNS,
        "skipped",
        first_row=5,
    ),
    text("comments.csv", "# station 7\n# units: mm, mm\n" + PLAIN, PLAIN_COLUMNS, "skipped", first_row=4),
    text("trailing_everywhere.csv", PLAIN.replace("\n", ",\n"), PLAIN_COLUMNS, "empty"),
    text(
        "trailing_in_rows.csv",
        PLAIN.replace("cat\n", "cat,\n").replace("dog\n", "dog,\n"),
        PLAIN_COLUMNS,
        "empty",
    ),
    text("trailing_in_one_row.csv", PLAIN.replace("dog", "dog,,"), PLAIN_COLUMNS, "empty"),
    text(
        "comment_of_same_width.csv",
        "# mm, mm, latin\n" + PLAIN,
        PLAIN_COLUMNS,
        "skipped",
        first_row=3,
    ),
    text(
        "comments_and_spaces.txt",
        "% drawn by hand in 1998\n1 2 a\n3 4 b\n5 6 a\n",
        {"column 1": [1, 3, 5], "column 2": [2, 4, 6], "column 3": ["a", "b", "a"]},
        "no header",
        "skipped",
        "spaces",
        first_row=2,
    ),
    text("numpy.csv", "# x,label\n1.5,2\n2.5,3\n", {"x": [1.5, 2.5], "label": [2, 3]}),
    text("closing_spaces.csv", PLAIN + "  \n", PLAIN_COLUMNS),
    bad("text_after_quote.csv", 'a,b\n"x",1\n"5" pipe",2\n', "Line 3 .* closing quote"),
    bad("comment_between.csv", "a,b\n1,2\n# later\n3,4\n", "Line 3 .* 1 cell instead of 2"),
    bad("footer.csv", "a,b\n1,2\n3,4\nSource: WHO\n", "Line 4"),
    bad("too_many.csv", PLAIN + "1,2,cat,extra\n", r"Line 5 .* 4 .* 3"),
    bad("too_few.csv", PLAIN + "1,2\n", r"Line 5 .* 2 .* 3"),
    bad("late_too_few.csv", "a,b\n" + "1,x\n" * LONG + "2\n", rf"Line {LONG + 2} .* 1 .* 2"),
    bad("open_quote.csv", 'a,b\n1,"x\n2,y\n', "quote"),
]

HEADERS = [
    text(
        "no_header.csv",
        "1.5,2\n2.5,3\n3.5,4\n",
        {"column 1": [1.5, 2.5, 3.5], "column 2": [2, 3, 4]},
        "no header",
        first_row=1,
    ),
    text(
        "iris.data",
        "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,2.9,virginica\n",
        {"column 1": [5.1, 4.9, 6.3], "column 2": [3.5, 3.0, 2.9], "column 3": ["setosa", "setosa", "virginica"]},
        "no header",
        first_row=1,
    ),
    text(
        "all_text_without_header.csv",
        "red,yes\nblue,no\nred,no\nblue,yes\n",
        {"column 1": ["red", "blue", "red", "blue"], "column 2": ["yes", "no", "no", "yes"]},
        "no header",
        first_row=1,
    ),
    text("all_text.csv", "color,label\nred,yes\nblue,no\n", {"color": ["red", "blue"], "label": ["yes", "no"]}),
    text(
        "duplicates.csv",
        "a,b,a,a,A\n1,2,3,4,5\n6,7,8,9,10\n",
        {"a": [1, 6], "b": [2, 7], "a (2)": [3, 8], "a (3)": [4, 9], "A": [5, 10]},
        "'a (2)'",
    ),
    text(
        "duplicate_of_duplicate.csv",
        "a,a (2),a\n1,2,3\n4,5,6\n",
        {"a": [1, 4], "a (2)": [2, 5], "a (3)": [3, 6]},
        "'a (3)'",
    ),
    text(
        "pandas_index.csv",
        ",x,y\n0,1.5,a\n1,2.5,b\n",
        {"column 1": [0, 1], "x": [1.5, 2.5], "y": ["a", "b"]},
        "'column 1'",
    ),
    text("empty_name.csv", "x,,y\n1,2,a\n3,4,b\n", {"x": [1, 3], "column 2": [2, 4], "y": ["a", "b"]}, "'column 2'"),
    text(
        "markup.csv",
        'rate [/min],"a ""b""",<b>,  c  \n1,2,3,4\n5,6,7,8\n',
        {"rate [/min]": [1, 5], 'a "b"': [2, 6], "<b>": [3, 7], "c": [4, 8]},
    ),
    text(
        "numbered.csv",
        "0,1,2,label\n1.5,2,3,a\n2.5,3,4,b\n",
        {"0": [1.5, 2.5], "1": [2, 3], "2": [3, 4], "label": ["a", "b"]},
        "names",
    ),
    text(
        "years.csv",
        "country,2019,2020\nFrance,1.5,2\nItaly,3.5,4\n",
        {"country": ["France", "Italy"], "2019": [1.5, 3.5], "2020": [2, 4]},
        "names",
    ),
    text(
        "row_names_of_r.csv",
        '"length","species"\n"1",1.5,"cat"\n"2",2.5,"dog"\n',
        {"column 1": [1, 2], "length": [1.5, 2.5], "species": ["cat", "dog"]},
        "'column 1'",
    ),
    bad("too_many_names.csv", "a,b,c\n1,2\n3,4\n", "Line 1 .* 3 cells, .* 2;"),
    bad("decimal_comma_in_one_column.csv", "x\n1,5\n2,5\n", "Line 1 .* 1 cell"),
    text("one_row.csv", "a,b\n1,x\n", {"a": [1], "b": ["x"]}),
    bad("header_only.csv", "a,b,c\n", "no rows"),
    text(
        "wide.csv",
        ",".join(f"f{j}" for j in range(2000)) + "\n" + ",".join(map(str, range(2000))) + "\n" + ",".join(["1"] * 2000),
        {f"f{j}": [j, 1] for j in range(2000)},
    ),
    text("long_field.csv", f"a,b\n{'x' * 3_000_000},1\ny,2\n", {"a": ["x" * 3_000_000, "y"], "b": [1, 2]}),
]

NUMBERS = [
    text("decimal_comma.csv", COMMA, PLAIN_COLUMNS, "';'", "decimal comma"),
    text("decimal_comma.tsv", COMMA.replace(";", "\t"), PLAIN_COLUMNS, "decimal comma"),
    text(
        "decimal_comma_only.csv",
        "a;b\n1,5;2,5\n3,5;4,5\n5,5;6,5\n",
        {"a": [1.5, 3.5, 5.5], "b": [2.5, 4.5, 6.5]},
        "';'",
        "decimal comma",
    ),
    text(
        "quoted_decimal_comma.csv", 'a,b\n"1,5",x\n"22,75",y\n', {"a": [1.5, 22.75], "b": ["x", "y"]}, "decimal comma"
    ),
    text(
        "german_thousands.csv",
        "price;n\n1.234,5;1\n12,25;2\n1.234.567,0;3\n",
        {"price": [1234.5, 12.25, 1234567.0], "n": [1, 2, 3]},
        "decimal comma",
    ),
    text(
        "english_thousands.csv",
        'price,n\n"1,234.5",1\n12.25,2\n"1,234,567.0",3\n',
        {"price": [1234.5, 12.25, 1234567.0], "n": [1, 2, 3]},
        "thousands",
    ),
    text("swiss.csv", "price,n\n1'234.5,1\n12.25,2\n", {"price": [1234.5, 12.25], "n": [1, 2]}, "thousands"),
    text("french.csv", "prix;n\n1\u202f234,5;1\n12,25;2\n", {"prix": [1234.5, 12.25], "n": [1, 2]}, "decimal comma"),
    text(
        "ambiguous_thousands.csv",
        'people,share\n"1,234",1.5\n"5,678",2.5\n',
        {"people": [1234, 5678], "share": [1.5, 2.5]},
        "'people'",
        "thousands",
    ),
    text(
        "ambiguous_comma.csv",
        "length;width\n1,234;1,5\n5,678;2,5\n",
        {"length": [1.234, 5.678], "width": [1.5, 2.5]},
        "decimal comma",
    ),
    text(
        "ambiguous_points.csv",
        "people;share\n1.234;1,5\n5.678;2,5\n",
        {"people": [1234, 5678], "share": [1.5, 2.5]},
        "'people'",
        "thousands",
    ),
    text("unclear_points.csv", "a;b\n1.234;x\n5.678;y\n", {"a": [1.234, 5.678], "b": ["x", "y"]}, "';'", "--decimal ,"),
    text(
        "unclear_commas.csv",
        "a;b\n1,234;x\n5,678;y\n",
        {"a": [1.234, 5.678], "b": ["x", "y"]},
        "';'",
        "1,234 in 'a' was read as 1.234",
        "--decimal .",
    ),
    text(
        "unclear_commas.tsv",
        "a\tb\n1,234\tx\n5,678\ty\n",
        {"a": [1234, 5678], "b": ["x", "y"]},
        "1,234 in 'a' was read as 1234",
        "--decimal ,",
    ),
    text(
        "decided_by_others.tsv",
        "a\tb\n1,234\t1,5\n5,678\t2,5\n",
        {"a": [1.234, 5.678], "b": [1.5, 2.5]},
        "1,234 in 'a' was read as 1.234",
        "decimal comma",
    ),
    text("minus.csv", "a,b\n−5.5,x\n2,y\n", {"a": [-5.5, 2.0], "b": ["x", "y"]}),
    text("points_when_told.csv", "a,b\n1.5,x\n", {"a": ["1.5"], "b": ["x"]}, "'a'", options={"decimal": ","}),
    text("semicolon_told.csv", PLAIN, {"length,width,species": PLAIN.split()[1:]}, "';'", options={"sep": ";"}),
    text("three_decimals.csv", "a,b\n1.234,x\n5.678,y\n", {"a": [1.234, 5.678], "b": ["x", "y"]}),
    text(
        "points_told.csv",
        "a,b\n1.234,x\n5.678,y\n",
        {"a": [1234, 5678], "b": ["x", "y"]},
        "thousands",
        options={"decimal": ","},
    ),
    text(
        "zip_codes.csv",
        "zip,n\n01234,1\n90210,2\n00501,3\n",
        {"zip": ["01234", "90210", "00501"], "n": [1, 2, 3]},
        "'zip'",
    ),
    text(
        "late_zip.csv",
        "zip,n\n" + "90210,1\n" * LONG + "01234,2\n",
        {"zip": ["90210"] * LONG + ["01234"], "n": [1] * LONG + [2]},
        "'zip'",
    ),
    text(
        "long_ids.csv",
        "id,n\n12345678901234567890123,1\n12345678901234567890124,2\n",
        {"id": ["12345678901234567890123", "12345678901234567890124"], "n": [1, 2]},
        "'id'",
    ),
    text("ids.csv", "id,n\n9007199254740993,1\n,2\n", {"id": [9007199254740993, None], "n": [1, 2]}),
    text(
        "long_ids_and_decimals.csv",
        "id,n\n9007199254740993,1\n9007199254740995,2\n1.5,3\n",
        {"id": ["9007199254740993", "9007199254740995", "1.5"], "n": [1, 2, 3]},
        "'id'",
    ),
    text(
        "spellings.csv",
        "x,n\n1e-5,1\n+5,2\n.5,3\n5.,4\n-2.5E+3,5\n",
        {"x": [1e-5, 5.0, 0.5, 5.0, -2500.0], "n": [1, 2, 3, 4, 5]},
    ),
    text(
        "not_numbers.csv",
        "a,b,c\n1_000,0x1F,1d\n2_000,0x2F,2d\n",
        {"a": ["1_000", "2_000"], "b": ["0x1F", "0x2F"], "c": ["1d", "2d"]},
    ),
    text(
        "units.csv",
        'mass,share,price\n"3,750 g",12%,$5\n"4,100 g",15%,$7\n',
        {"mass": ["3,750 g", "4,100 g"], "share": ["12%", "15%"], "price": ["$5", "$7"]},
    ),
    text(
        "late_decimal.csv", "a,b\n" + "1,x\n" * LONG + "2.5,y\n", {"a": [1.0] * LONG + [2.5], "b": ["x"] * LONG + ["y"]}
    ),
    text(
        "late_text.csv", "a,b\n" + "1,x\n" * LONG + "ten,y\n", {"a": ["1"] * LONG + ["ten"], "b": ["x"] * LONG + ["y"]}
    ),
]

MISSING = [
    text(
        "missing.csv",
        "x,y\n1.5,a\n,a\nNA,b\nN/A,b\nNaN,a\nnull,a\nNone,b\n-,b\n?,a\n.,b\n2.5,a\n",
        {"x": [1.5, *[None] * 9, 2.5], "y": list("aabbaabbaba")},
        "'x'",
    ),
    text("empty_cells.csv", "x,y\n1.5,a\n,\n2.5,b\n", {"x": [1.5, None, 2.5], "y": ["a", None, "b"]}),
    text("none_is_a_class.csv", "x,y\n1,None\n2,mild\n3,NA\n", {"x": [1, 2, 3], "y": ["None", "mild", "NA"]}),
    text("question_marks.csv", "age,sex\n31,m\n?,f\n27,m\n", {"age": [31, None, 27], "sex": ["m", "f", "m"]}, "'age'"),
    text("empty_column.csv", "x,e,y\n1,,a\n2,,b\n", {"x": [1, 2], "e": [None, None], "y": ["a", "b"]}),
    text("only_marks.csv", "x,e\n1,NA\n2,NA\n", {"x": [1, 2], "e": ["NA", "NA"]}),
]

KINDS = [
    text("booleans.csv", "a,b\nTrue,yes\nFalse,no\ntrue,yes\n", {"a": [True, False, True], "b": ["yes", "no", "yes"]}),
    text(
        "dates.csv",
        "d,n\n2024-01-31,1\n2023-12-01,2\nNA,3\n",
        {"d": [date(2024, 1, 31), date(2023, 12, 1), None], "n": [1, 2, 3]},
        "'d'",
    ),
    text(
        "times.csv",
        "t,u\n2024-01-31 12:30:00,2024-01-31T12:30:00Z\n2023-12-01 00:00:01.5,2023-12-01T02:00:00+02:00\n",
        {
            "t": [datetime(2024, 1, 31, 12, 30), datetime(2023, 12, 1, 0, 0, 1, 500_000)],
            "u": [datetime(2024, 1, 31, 12, 30, tzinfo=UTC), datetime(2023, 12, 1, tzinfo=UTC)],
        },
    ),
    text(
        "day_first.csv",
        "d,n\n31/01/2024,1\n01/02/2024,2\n",
        {"d": [date(2024, 1, 31), date(2024, 2, 1)], "n": [1, 2]},
        "'d'",
    ),
    text(
        "month_first.csv",
        "d,n\n01/31/2024,1\n02/01/2024,2\n",
        {"d": [date(2024, 1, 31), date(2024, 2, 1)], "n": [1, 2]},
        "'d'",
    ),
    text(
        "which_first.csv", "d,n\n01/02/2024,1\n02/03/2024,2\n", {"d": ["01/02/2024", "02/03/2024"], "n": [1, 2]}, "'d'"
    ),
    text(
        "german_dates.csv",
        "d;n\n01.02.2024;1\n3.12.2024;2\n",
        {"d": [date(2024, 2, 1), date(2024, 12, 3)], "n": [1, 2]},
        "'d'",
    ),
    text("no_date.csv", "d,n\n2024-02-30,1\n2024-02-01,2\n", {"d": ["2024-02-30", "2024-02-01"], "n": [1, 2]}),
    text("clock.csv", "t,n\n12:30,1\n9:05,2\n", {"t": ["12:30", "9:05"], "n": [1, 2]}),
]

PACKED = [
    text("UPPER.CSV", PLAIN, PLAIN_COLUMNS),
    text("no_extension", PLAIN, PLAIN_COLUMNS),
    text("packed.csv.gz", gzip.compress(PLAIN.encode()), PLAIN_COLUMNS, "gzip"),
    text("packed.csv.zst", pa.compress(PLAIN.encode(), "zstd", asbytes=True), PLAIN_COLUMNS, "zstd"),
    text("packed.csv.bz2", bz2.compress(PLAIN.encode()), PLAIN_COLUMNS, "bzip2"),
    text("packed.zip", zipped(table_csv=PLAIN), PLAIN_COLUMNS, "zip"),
    text("packed_though_named.csv", gzip.compress(PLAIN.encode()), PLAIN_COLUMNS, "gzip"),
    text("not_packed.csv.gz", PLAIN, PLAIN_COLUMNS, "not compressed"),
    text("packed_utf16.csv.gz", gzip.compress(COMMA.encode("utf-16")), PLAIN_COLUMNS, "gzip", "UTF-16", "';'", "comma"),
    bad("two_members.zip", zipped(a_csv=PLAIN, b_csv=PLAIN), "2 files"),
    bad("truncated.csv.gz", gzip.compress(PLAIN.encode() * 100)[:-20], "truncated|damaged"),
    bad("truncated.csv.zst", pa.compress(PLAIN.encode() * 100, "zstd", asbytes=True)[:-5], "truncated|damaged"),
    bad("damaged.csv.bz2", bz2.compress(PLAIN.encode() * 100)[:-9] + b"123456789", "truncated|damaged"),
    bad("damaged.zip", zipped(table_csv=PLAIN)[:-30], "truncated|damaged"),
    bad("empty.csv.gz", gzip.compress(b""), "empty"),
]

NO_TABLES = [
    bad("empty.csv", "", "empty"),
    bad("blank.csv", "\n \n\n", "empty"),
    bad("mark_only.csv", b"\xef\xbb\xbf", "empty"),
    bad("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "PNG"),
    bad("paper.csv", b"%PDF-1.7\n" + bytes(range(256)), "PDF"),
    bad("binary.csv", bytes(range(256)) * 4, "binary"),
    bad("zeros.csv", b"a,b\n1,2\n" + bytes(100), "binary"),
    bad("page.csv", "<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n", "HTML"),
    bad("pointer.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:12ab\nsize 123\n", "git lfs pull"),
    bad("unknown_encoding.csv", PLAIN, "encoding", options={"encoding": "klingon"}),
    bad("wrong_encoding.csv", NAMES.encode("latin-1"), "encoding", options={"encoding": "utf-8"}),
    bad("wrong_sep.csv", PLAIN, "sep", options={"sep": "ab\n"}),
    bad("wrong_decimal.csv", PLAIN, "decimal", options={"decimal": ";"}),
]

TEXT_FILES = SEPARATORS + QUOTES + ENCODINGS + LINES + HEADERS + NUMBERS + MISSING + KINDS + PACKED + NO_TABLES
