"""What a page does with a figure that matplotlib drew as SVG, with no need to draw it again.

`Drawing` reads the file. `light` and `dark` are the same lines in the colours of the two themes,
without a ground of their own; only a legend has one, where lines would cross its words. `phone`
puts panels that stand side by side below each other, enlarges the text of one that stands alone,
and puts panels in a panel below it. Numbers are cut to a hundredth of a point, and what nobody
sees is left out: half of the file.
"""

from __future__ import annotations

import base64
import copy
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import numpy as np

from wfmlib.book.display import palette

by_night = cache(palette.by_night)

SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", LINK[1:-5])

NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
COLUMN = 278.0  # points: a panel of this width has text of nine pixels on a phone, and more
READABLE = 0.0262  # of the width of a drawing that fills a phone's: ten pixels of 390
GAP = 6.0  # points around what is cut out
NARROW = 75.0  # points: what is no wider is a scale of colours, and stays beside its panel


def tag(name: str) -> str:
    """Return the name of an element as the parser writes it."""
    return f"{{{SVG}}}{name}"


@dataclass(frozen=True)
class Box:
    """A rectangle, in points."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.right - self.left

    def holds(self, other: Box) -> bool:
        """Say whether another one lies inside."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    @classmethod
    def around(cls, boxes) -> Box:
        """Return the smallest one that holds them all."""
        left, top, right, bottom = zip(
            *((b.left, b.top, b.right, b.bottom) for b in boxes), strict=True
        )
        return cls(min(left), min(top), max(right), max(bottom))


class Drawing:
    """A figure of matplotlib, from the text of its SVG file.

    Parameters
    ----------
    text : str
        With glyphs as outlines (``svg.fonttype: path``).

    Raises
    ------
    ValueError
        If it is not a figure of matplotlib.
    """

    def __init__(self, text: str):
        self.root = ET.fromstring(text)
        self.figure = self.root.find(f"{tag('g')}[@id='figure_1']")
        if self.figure is None:
            raise ValueError("this is no figure of matplotlib: it has no group 'figure_1'")
        _, _, self.width, self.height = map(float, self.root.get("viewBox").split())
        self.outlines = {
            one.get("id"): one for one in self.root.iter(tag("path")) if one.get("id")
        }
        self.panels = {one.get("id"): one[0] for one in self.root.iter(tag("clipPath"))}
        self.axes = [one for one in self.figure if (one.get("id") or "").startswith("axes_")]
        self._without_ground()
        self._behind_legends()
        self.boxes = [self._box(one) for one in self.axes]
        columns = self._columns()
        if len(columns) > 1:
            self._phone = self._trimmed(self._stack(columns))
        elif self.width > COLUMN:
            self._phone = self._trimmed(self._enlarge())
        else:
            self._phone = None
        self._trimmed(self.root)  # last: the names of the groups go

    @property
    def light(self) -> str:
        """The figure for light pages and for print."""
        return self._written(self.root)

    @property
    def dark(self) -> str:
        """The figure for dark pages."""
        return self._written(night(self.root))

    @property
    def phone(self) -> tuple[str, str] | None:
        """The figure for a phone, light and dark; None where it is narrow as it is."""
        if self._phone is None:
            return None
        return self._written(self._phone), self._written(night(self._phone))

    @staticmethod
    def size(text: str) -> tuple[float, float]:
        """Return the width and the height of what was written, in points."""
        _, _, width, height = re.search(r'viewBox="([^"]+)"', text)[1].split()
        return float(width), float(height)

    def _without_ground(self):
        """Take away the white of the figure and of its panels; not that of a panel in a panel."""
        self.figure.remove(self.figure.find(f"{tag('g')}[@id='patch_1']"))
        grounds = []
        for axes in self.axes:
            patch = next((one for one in axes if (one.get("id") or "").startswith("patch_")), None)
            if patch is not None and patch[0].get("style") == "fill: #ffffff":
                grounds.append((axes, patch, self._box(patch)))
        for axes, patch, box in grounds:
            if not any(other.holds(box) for one, _, other in grounds if one is not axes):
                axes.remove(patch)

    def _behind_legends(self):
        """Give each legend a ground, so that its words can be read where lines cross it."""
        for legend in [one for one in self.figure.iter() if is_named(one, "legend_")]:
            box = self._box(legend)
            legend.insert(
                0,
                ET.Element(
                    tag("rect"),
                    {
                        "x": f"{box.left - 2:.2f}",
                        "y": f"{box.top - 2:.2f}",
                        "width": f"{box.width + 4:.2f}",
                        "height": f"{box.bottom - box.top + 4:.2f}",
                        "style": "fill: #ffffff; fill-opacity: 0.8",
                    },
                ),
            )

    def _columns(self) -> list[list[Box]]:
        """Return what stands below each other on a phone: of each row the parts side by side.

        Panels that stand above each other, or overlap, stay together; so do as many columns as
        there is room for, and a panel and its scale of colours. A panel without numbers on its
        axis gets those of its neighbour.
        """
        boxes = sorted(self.boxes, key=lambda box: box.left)
        rest = [one for one in self.figure if one not in self.axes]
        if rest or not boxes:  # a legend or a title of the whole figure
            return []
        columns = [[boxes[0]]]
        for box in boxes[1:]:
            if box.left < max(one.right for one in columns[-1]):
                columns[-1].append(box)
            else:
                columns.append([box])
        rows = [Box.around(columns[0])]
        for column in columns[1:]:
            both = Box.around([rows[-1], *column])
            if both.width <= COLUMN or Box.around(column).width <= NARROW:
                rows[-1] = both
            else:
                rows.append(Box.around(column))
        first = self._numbers(rows[0])
        return [[row] if self._numbers(row) or not first else [first, row] for row in rows]

    def _numbers(self, row: Box) -> Box | None:
        """Return the part with the numbers of the vertical axis on the left of a row."""
        for axes, box in zip(self.axes, self.boxes, strict=True):
            if row.holds(box):
                name = f"matplotlib.axis_{self._second(axes)}"
                axis = axes.find(f"{tag('g')}[@id='{name}']")
                texts = self._text_box(axis) if axis is not None else None
                if texts is not None:
                    return Box(row.left, row.top, texts.right + 4.5, row.bottom)
        return None

    @staticmethod
    def _second(axes):
        """Return the number of the vertical axis: they are counted through the figure."""
        names = [one.get("id") or "" for one in axes]
        found = [
            int(one.rpartition("_")[2]) for one in names if one.startswith("matplotlib.axis_")
        ]
        return max(found, default=0)

    def _text_box(self, element) -> Box | None:
        texts = [
            one for one in element.iter(tag("g")) if (one.get("id") or "").startswith("text_")
        ]
        boxes = [box for one in texts if (box := self._box(one))]
        return Box.around(boxes) if boxes else None

    def _enlarge(self):
        """Return the drawing with larger text, in the same places.

        Numbers and labels grow away from the panel, and a legend as a whole from the corner in
        which it stands.
        """
        root = copy.deepcopy(self.root)
        covered, insets = [], []
        for axes in self._axes_of(root):
            insets += taken_out(axes)
            box = self._box(axes)
            panel = self._panel(axes) or box
            covered += [box, *(self._grown(one, panel) for one in parts(axes))]
        whole = Box.around(covered)
        left, top, width = whole.left - GAP, whole.top - GAP / 2, whole.width + 2 * GAP
        bottom = whole.bottom + GAP / 2
        if insets:
            bottom += GAP + self._put_below(root, insets, left, bottom + GAP, width)
        _sized(root, left, top, width, bottom - top)
        return root

    def _put_below(self, root, insets, left: float, top: float, width: float) -> float:
        """Write panels in a row, as large as their text asks for; return how high it is."""
        boxes = [self._box(one) for one in insets]
        size = min(scale for one in insets if (scale := text_scale(one)))
        room = width / sum(box.width + 2 * GAP for box in boxes)
        factor = min(room, max(1.0, READABLE * width / (100 * size)))
        x = left + width / 2 * (1 - factor / room)
        for one, box in zip(insets, boxes, strict=True):
            x += factor * GAP
            move = f"translate({x - factor * box.left:.2f} {top - factor * box.top:.2f})"
            holder = ET.SubElement(root, tag("g"), {"transform": f"{move} scale({factor:.3f})"})
            holder.append(one)
            x += factor * (box.width + GAP)
        return factor * max(box.bottom - box.top for box in boxes)

    @staticmethod
    def _axes_of(root):
        figure = root.find(f"{tag('g')}[@id='figure_1']")
        return [one for one in figure if (one.get("id") or "").startswith("axes_")]

    def _panel(self, axes) -> Box | None:
        """Return the rectangle of a panel: what its lines are cut off at."""
        clips = [clip for one in axes.iter() if (clip := one.get("clip-path"))]
        return self._box(self.panels[clips[0][5:-1]]) if clips else None

    def _grown(self, part, panel: Box) -> Box:
        """Enlarge a text or a legend in its place; return what it covers then."""
        box = self._box(part)
        scale = text_scale(part)
        if box is None or scale is None:
            return box or panel
        factor = max(1.0, READABLE * self.width / (100 * scale))
        x, y, shift = (box.left + box.right) / 2, (box.top + box.bottom) / 2, (0.0, 0.0)
        room = (factor - 1) * 10
        if box.top >= panel.bottom:  # numbers and the label below; the label makes room
            y, shift = box.top, (0.0, room if box.top > panel.bottom + 18 else 0.0)
        elif box.right <= panel.left:
            upright = box.bottom - box.top > box.width
            x, shift = box.right, (-3.0 * room if upright else 0.0, 0.0)
        elif box.bottom <= panel.top:
            y = box.bottom
        elif box.left >= panel.right:
            upright = box.bottom - box.top > box.width
            x, shift = box.left, (3.0 * room if upright else 0.0, 0.0)
        else:  # inside: it keeps to the nearer sides
            x = nearer(box.left, box.right, panel.left, panel.right)
            y = nearer(box.top, box.bottom, panel.top, panel.bottom)
        move = x * (1 - factor) + shift[0], y * (1 - factor) + shift[1]
        place = f"translate({move[0]:.2f} {move[1]:.2f}) scale({factor:.3f})"
        inner = ET.Element(tag("g"))
        inner.extend(list(part))
        for one in list(part):
            part.remove(one)
        part.append(inner)
        part.set("transform", place)
        return self._box(part)

    def _stack(self, columns):
        """Return a drawing in which the rows stand below each other."""
        root = ET.Element(tag("svg"), {"version": "1.1"})
        for one in self.root:
            if one is not self.figure:
                root.append(copy.deepcopy(one))
        definitions = ET.SubElement(root, tag("defs"))
        figure = copy.deepcopy(self.figure)
        figure.set("id", "f")
        definitions.append(figure)
        widths = [sum(part.width + GAP for part in row) for row in columns]
        wide, high = max(COLUMN, *widths), 0.0
        for row, width in zip(columns, widths, strict=True):
            tall = max(part.bottom - part.top for part in row) + GAP
            x = (wide - width) / 2
            for part in row:
                box = part.left - GAP / 2, part.top - GAP / 2, part.width + GAP, tall
                view = {
                    "x": f"{x:.2f}",
                    "y": f"{high:.2f}",
                    "width": f"{box[2]:.2f}",
                    "height": f"{tall:.2f}",
                    "viewBox": " ".join(f"{one:.2f}" for one in box),
                }
                ET.SubElement(ET.SubElement(root, tag("svg"), view), tag("use"), {LINK: "#f"})
                x += box[2]
            high += tall + GAP
        _sized(root, 0, 0, wide, high - GAP)
        return root

    @staticmethod
    def _trimmed(root):
        """Cut numbers, names that nobody uses, and what surrounds the drawing."""
        used = set(re.findall(r"#([^\"#()]+)[\")]", ET.tostring(root, "unicode")))
        for one in root.findall(tag("metadata")):
            root.remove(one)
        for one in root.iter():
            one.text = one.text if one.tag == tag("style") else None
            one.tail = None
            if one.get("id") not in used:
                one.attrib.pop("id", None)
            glyph = one.get("transform") == "scale(0.015625)"
            for name in ("d", "x", "y"):
                if name in one.attrib:
                    one.set(name, shorter(one.get(name), 0 if glyph else 2))
            if "style" in one.attrib:
                one.set("style", re.sub(r"([:;]) +", r"\1", one.get("style")))
        return root

    def _written(self, root) -> str:
        return ET.tostring(root, "unicode")

    def _box(self, element) -> Box | None:
        """Return what an element covers, without what is cut off at the edge of a panel."""
        points = list(self._points(element, np.eye(3)))
        if not points:
            return None
        (left, top), (right, bottom) = np.min(points, axis=0), np.max(points, axis=0)
        return Box(left, top, right, bottom)

    def _points(self, element, place):
        """Yield the corners of what an element covers."""
        if element.tag in (tag("defs"), tag("clipPath")):
            return
        place = place @ matrix(element.get("transform", ""))
        if clip := element.get("clip-path"):  # the panel, which holds all that is seen
            element = self.panels[clip[5:-1]]
        if element.tag == tag("use"):
            outline = self.outlines.get(element.get(LINK)[1:])
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            if outline is not None:
                yield from self._points(outline, place @ matrix(f"translate({x} {y})"))
        elif element.tag == tag("path"):
            numbers = np.array([float(one) for one in NUMBER.findall(element.get("d", ""))])
            if numbers.size:
                pairs = numbers.reshape(-1, 2)
                low, high = pairs.min(axis=0), pairs.max(axis=0)
                for x in (low[0], high[0]):
                    for y in (low[1], high[1]):
                        yield (place @ (x, y, 1))[:2]
        elif element.tag in (tag("image"), tag("rect")):
            x, y, width, height = (
                float(element.get(one)) for one in ("x", "y", "width", "height")
            )
            for corner in ((x, y, 1), (x + width, y + height, 1)):
                yield (place @ corner)[:2]
        for child in element:
            yield from self._points(child, place)


def is_named(element, start: str) -> bool:
    """Say whether an element is a group that matplotlib named so."""
    return element.tag == tag("g") and (element.get("id") or "").startswith(start)


def taken_out(axes) -> list:
    """Take the panels in a panel out of it, and return them."""
    insets = [one for one in axes if is_named(one, "axes_")]
    for one in insets:
        axes.remove(one)
    return insets


def text_scale(element) -> float | None:
    """Return a hundredth of the size of the first text in an element, in points."""
    found = re.search(r"scale\((0\.\d+) -", ET.tostring(element, "unicode"))
    return float(found[1]) if found else None


def parts(axes):
    """Yield what of a panel is text: legends as a whole, and the texts outside of them."""
    for one in axes:
        name = one.get("id") or ""
        if name.startswith(("text_", "legend_")):
            yield one
        elif one.tag == tag("g"):
            yield from parts(one)


def nearer(low: float, high: float, first: float, last: float) -> float:
    """Return the end of an interval that is nearer to that of another; between, the middle."""
    before, after = low - first, last - high
    if min(before, after) > 0.3 * (last - first - high + low):
        return (low + high) / 2
    return low if before < after else high


def matrix(transform: str) -> np.ndarray:
    """Return the attribute of an element as a matrix that acts on (x, y, 1).

    Raises
    ------
    ValueError
        If it holds something that matplotlib does not write.
    """
    found = np.eye(3)
    for name, given in re.findall(r"(\w+)\(([^)]*)\)", transform):
        values = [float(one) for one in re.split(r"[ ,]+", given.strip())]
        if name == "translate":
            one = [[1, 0, values[0]], [0, 1, values[1] if len(values) > 1 else 0], [0, 0, 1]]
        elif name == "scale":
            one = np.diag([values[0], values[-1], 1])
        elif name == "rotate" and len(values) == 1:
            cos, sin = np.cos(np.radians(values[0])), np.sin(np.radians(values[0]))
            one = [[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]
        else:
            raise ValueError(f"a transformation that matplotlib does not write: {name}({given})")
        found = found @ np.array(one)
    return found


def shorter(numbers: str, digits: int) -> str:
    """Return the data of a path, or a coordinate, with its numbers cut and no idle space."""

    def cut(match):
        value = f"{float(match[0]):.{digits}f}"
        value = value.rstrip("0").rstrip(".") if "." in value else value
        return "0" if value in ("-0", "") else value

    return re.sub(r"\s*([A-Za-z])\s*", r"\1", NUMBER.sub(cut, " ".join(numbers.split())))


def night(root):
    """Return a copy of a drawing in the colours of the dark theme.

    A picture in grey, such as that of a digit, is shown as it is: it stands for something that has
    a light and a dark side of its own. One in colours is a scale, and changes as lines do.
    """
    root = copy.deepcopy(root)
    for one in root.iter():
        for name in ("style", "fill", "stroke"):
            if name in one.attrib:
                one.set(name, COLOUR.sub(lambda match: by_night(match[0]), one.get(name)))
        if one.tag == tag("image"):
            one.set(LINK, _scale_by_night(one.get(LINK)))
    root.set("fill", by_night("#000000"))  # what has no colour of its own
    return root


def _scale_by_night(source: str) -> str:
    from PIL import Image

    head, _, data = source.partition("base64,")
    picture = np.asarray(Image.open(BytesIO(base64.b64decode(data))).convert("RGBA"))
    shades, place = np.unique(picture[..., :3].reshape(-1, 3), axis=0, return_inverse=True)
    if np.all(shades.max(axis=1) - shades.min(axis=1) < 16):
        return source
    codes = ["#" + "".join(f"{level:02x}" for level in shade) for shade in shades]
    night = [[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in map(by_night, codes)]
    changed = picture.copy()
    changed[..., :3] = np.array(night, np.uint8)[place.ravel()].reshape(picture[..., :3].shape)
    file = BytesIO()
    Image.fromarray(changed).save(file, "png", optimize=True)
    return f"{head}base64,{base64.b64encode(file.getvalue()).decode()}"


def _sized(root, left, top, width, height):
    root.set("viewBox", f"{left:g} {top:g} {width:.2f} {height:.2f}")
    root.set("width", f"{width:.2f}pt")
    root.set("height", f"{height:.2f}pt")
