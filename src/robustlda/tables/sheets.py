"""Reads sheets of a workbook in a process of its own: `excel` starts this file, and writes to and reads from its pipes.

The library that parses workbooks trusts them: a chain of sectors that ends in itself, or one cell in the last corner of
a sheet, takes all memory there is, and then the process ends without an exception. So that process is another one, with
memory and time that are bounded, and where it does not answer the file is to blame. Nothing of the package is imported
here, for which there would be no time.
"""

import json
import pickle
import sys
from typing import BinaryIO


def serve(path: str, memory: int, seconds: int, asked: BinaryIO, answers: BinaryIO) -> None:
    """Names of the sheets, then the rows of each that is asked for; None if a password protects it."""
    _bound(memory, seconds)
    import python_calamine

    def send(answer: object) -> None:
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()

    try:
        with open(path, "rb") as stream:
            book = python_calamine.CalamineWorkbook.from_filelike(stream)
        send([sheet.name for sheet in book.sheets_metadata if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet])
        for line in asked:
            send(book.get_sheet_by_name(json.loads(line)).to_python(skip_empty_area=False))
    except python_calamine.PasswordError:
        send(None)


def _bound(memory: int, seconds: int) -> None:
    """Bytes and seconds that this process may have, where the system knows such bounds."""
    try:
        import resource
    except ImportError:
        return
    for what, bound in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        most = resource.getrlimit(what)[1]
        bound = bound if most == resource.RLIM_INFINITY else min(bound, most)
        resource.setrlimit(what, (bound, bound))


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.stdin.buffer, sys.stdout.buffer)
