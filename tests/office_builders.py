"""Small PDF, Word and PowerPoint files, made by hand so that tests may also make them wrong."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from xml.sax.saxutils import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(pages: Sequence[Sequence[str]], *, title: str = "", outline: Sequence[str] = ()) -> bytes:
    """A PDF with lines of text; the outline names each page in order. `# ` makes a line large."""
    objects: list[bytes] = []
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    first = 4 + 2 * count
    catalog = f"<< /Type /Catalog /Pages 2 0 R{f' /Outlines {first} 0 R' if outline else ''} >>"
    objects += [catalog.encode(), f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode()]
    objects.append(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    for number, lines in enumerate(pages):
        stream = page_stream(lines)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    if outline:
        objects += outline_objects(outline, first)
    objects.append(f"<< /Title ({title}) >>".encode())
    return assembled(objects)


def page_stream(lines: Sequence[str]) -> bytes:
    parts, height = [], 740
    for line in lines:
        size = 18 if line.startswith("# ") else 11
        words = line.removeprefix("# ").replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        if words:
            parts.append(f"BT /F1 {size} Tf 72 {height} Td ({words}) Tj ET")
        height -= 28 if size == 18 or not words else 14
    return "\n".join(parts).encode("cp1252")


def outline_objects(titles: Sequence[str], first: int) -> list[bytes]:
    last = first + len(titles)
    root = f"<< /Type /Outlines /First {first + 1} 0 R /Last {last} 0 R /Count {len(titles)} >>"
    items = []
    for number, title in enumerate(titles):
        near = f" /Next {first + 2 + number} 0 R" if number + 1 < len(titles) else ""
        near += f" /Prev {first + number} 0 R" if number else ""
        page = 4 + 2 * number
        items.append(f"<< /Title ({title}) /Parent {first} 0 R{near} /Dest [{page} 0 R /Fit] >>")
    return [root.encode(), *(item.encode() for item in items)]


def assembled(objects: Sequence[bytes]) -> bytes:
    written = BytesIO(b"%PDF-1.4\n")
    written.seek(0, 2)
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(written.tell())
        written.write(b"%d 0 obj\n%s\nendobj\n" % (number, each))
    start = written.tell()
    written.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    written.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    written.write(f"{trailer}\nstartxref\n{start}\n%%EOF\n".encode())
    return written.getvalue()


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def docx(body: str, *, declaration: str = "", **more: str | bytes) -> bytes:
    """A Word document around paragraphs in Word's own markup."""
    return zipped(docx_parts(body, declaration=declaration) | more)


def docx_parts(body: str, *, declaration: str = "") -> dict[str, str | bytes]:
    main = f'{declaration}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/>'
        "</w:style>"
        for name in ("Title", "heading 1", "heading 2")
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override'
        f' PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/></Types>',
        "_rels/.rels": relationships("officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": relationships("styles", "styles.xml"),
        "word/document.xml": main,
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
    }


def relationships(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1"'
        f' Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def words(text: str, style: str = "") -> str:
    """A paragraph of a Word document."""
    look = f'<w:pPr><w:pStyle w:val="{style.replace(" ", "")}"/></w:pPr>' if style else ""
    return f'<w:p>{look}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def grid(rows: Sequence[Sequence[str]]) -> str:
    """A table of a Word document."""
    lines = ("".join(f"<w:tc>{words(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


def pptx(slides: Sequence[tuple[str, Sequence[str]]], *, notes: str = "") -> bytes:
    """A presentation: each slide a title and its points; the notes belong to the first."""
    from pptx import Presentation

    deck = Presentation()
    for number, (title, points) in enumerate(slides):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = "\n".join(points)
        if notes and not number:
            slide.notes_slide.notes_text_frame.text = notes
    packed = BytesIO()
    deck.save(packed)
    return packed.getvalue()
