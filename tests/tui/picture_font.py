"""The font of the pictures in README and docs, which is in each of them: they look the same everywhere.

`python -m tests.tui.picture_font` writes docs/pictures/mono.woff2 and mono-bold.woff2: DejaVu Sans Mono with the
characters that the dashboard draws. Lines and blocks are stretched to the height of a line in an SVG of Rich, so that
they touch; braille, which the font does not have, is drawn here. It needs `pip install fonttools brotli` and
fonts-dejavu-core, and is run only when pictures have new characters: tests/tui/test_docs.py tells.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
FONTS = Path("/usr/share/fonts/truetype/dejavu")
NAMES = {"mono": ("DejaVuSansMono.ttf", 400), "mono-bold": ("DejaVuSansMono-Bold.ttf", 700)}
TOP, BOTTOM = 0.925, -0.295  # em: a line of Rich's SVG about its baseline
SYMBOLS = "▏▌▐▊█▀▄▁▂▃▄▅▆▇▔░▒▓─│┌┐└┘├┤┬┴┼╭╮╰╯━╸╺╶╴┊┈●◌■▲◊▪▸○?·✖»←→↑↓↗↘↺⏎⌫✓…–—≥≤×▼▶◀«ßäöüéñ°µ£€▎▍▋▉▕◐◑⚠■□☐☑✔✘⇄⇥⬤◉ℹ‖"
CHARACTERS = {*map(chr, range(32, 127)), *SYMBOLS, *map(chr, range(0x2800, 0x2900))}


@cache
def faces() -> str:
    """The rules of a style sheet that have the fonts in them."""
    return "\n".join(
        f'@font-face {{ font-family: "kcli mono"; font-weight: {weight}; '
        f"src: url(data:font/woff2;base64,{b64encode((FOLDER / f'{name}.woff2').read_bytes()).decode()}); }}"
        for name, (_, weight) in NAMES.items()
    )


def portable(svg: str) -> str:
    """An SVG of Rich that has its font in it, and loads none."""
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: (?:Fira Code, monospace|arial);", 'font-family: "kcli mono", monospace;', svg)
    return "\n".join(line.rstrip() for line in svg.replace("<style>", f"<style>\n{faces()}", 1).split("\n"))


def main() -> int:
    from fontTools import subset
    from fontTools.pens.recordingPen import DecomposingRecordingPen
    from fontTools.pens.transformPen import TransformPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib import TTFont

    for name, (file, _) in NAMES.items():
        font = TTFont(FONTS / file)
        glyphs, drawn, em = font.getGlyphSet(), font["glyf"], font["head"].unitsPerEm
        wide, high, low = font["hmtx"]["space"][0], int(TOP * em), int(BOTTOM * em)
        block = drawn[font.getBestCmap()[ord("█")]]
        stretch = (high - low) / (block.yMax - block.yMin)
        for code in range(0x2500, 0x25A0):
            if glyph := font.getBestCmap().get(code):
                pen, parts = TTGlyphPen(None), DecomposingRecordingPen(glyphs)
                glyphs[glyph].draw(parts)
                parts.replay(TransformPen(pen, (1.014, 0, 0, stretch, -wide * 0.007, low - block.yMin * stretch)))
                drawn[glyph] = pen.glyph()
        for dots in range(256):
            pen, glyph, size = TTGlyphPen(None), f"braille{dots:02x}", wide // 7
            for bit in range(8):
                if dots >> bit & 1:
                    row, column = (bit % 3, bit // 3) if bit < 6 else (3, bit - 6)
                    x, y = wide * (1 + 2 * column) // 4, high - (high - low) * (1 + 2 * row) // 8
                    pen.moveTo((x - size, y))
                    pen.qCurveTo((x - size, y + size), (x, y + size))
                    pen.qCurveTo((x + size, y + size), (x + size, y))
                    pen.qCurveTo((x + size, y - size), (x, y - size))
                    pen.qCurveTo((x - size, y - size), (x - size, y))
                    pen.closePath()
            drawn[glyph], font["hmtx"][glyph] = pen.glyph(), (wide, 0)
            for table in font["cmap"].tables:
                if table.isUnicode():
                    table.cmap[0x2800 + dots] = glyph
        options = subset.Options(
            flavor="woff2",
            layout_features=[],
            hinting=False,
            name_IDs=[0, 1, 2, 13, 14],
            drop_tables=["FFTM"],
        )
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(sorted(CHARACTERS)))
        subsetter.subset(font)
        subset.save_font(font, FOLDER / f"{name}.woff2", options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
