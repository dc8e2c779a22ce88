"""Counting the ones of 512 patterns at once, each in its own bit: what numba cannot say.

A *row* is 8 words of 64 bits, one bit for each of 512 patterns; to the processor it is one vector,
or a few. Numbers, one for each pattern, are kept bit by bit: row b of a counter holds bit b of
all. Three rows of the same weight are summed by a full adder, with no carry running through the
others: ``a ^ b ^ c`` has their weight and ``majority(a, b, c)`` twice that.

Each function takes arrays of shape (rows, 8), uint64, and numbers of rows, which nobody checks.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from wfmlib.numerics._plain import plain

WORD = 64  # inputs whose ones are counted at once, and bits in a word
LANES = 8  # words in a row
LEVELS = 6  # bits of a counter that 64 more ones go through before there is a carry
TRIPLES = 21  # of the 64 inputs; the last one stands alone
TABLE = 16 * TRIPLES + 2  # rows of what 64 inputs may add

_INDEX = ir.IntType(64)
_ROW = ir.VectorType(ir.IntType(64), LANES)


# ------------------------------------------------------------------------------------------------
# In NumPy
# ------------------------------------------------------------------------------------------------


def _summed(a, b, c):
    return a ^ b ^ c, (a & b) | (c & (a ^ b))


def _tabulate(inputs, first, table):
    for triple in range(TRIPLES):
        three = inputs[first + 3 * triple : first + 3 * triple + 3]
        for m in range(8):
            rows = [x if m >> i & 1 else ~x for i, x in enumerate(three)]
            place = 16 * triple + 2 * m
            table[place], table[place + 1] = _summed(*rows)
    table[TABLE - 2], table[TABLE - 1] = ~inputs[first + WORD - 1], inputs[first + WORD - 1]


def _add_word(table, weights, counter, carry):
    word, up = int(weights), 0
    rows = [(0, table[TABLE - 2 + (word >> (WORD - 1))])]
    for triple in range(TRIPLES):
        place = 16 * triple + 2 * (word >> 3 * triple & 7)
        rows += [(0, table[place]), (1, table[place + 1])]
    for least, row in rows:
        for level in range(least, LEVELS):
            counter[level], row = counter[level] ^ row, counter[level] & row
        up = up | row  # fewer than 128 ones in all: one carry at most
    counter[carry] = up


def _add_rows(counter, total, first, second, carry):
    counter[total], counter[carry] = _summed(counter[first], counter[second], counter[total])


# ------------------------------------------------------------------------------------------------
# For the compiler
# ------------------------------------------------------------------------------------------------


@plain(_tabulate)
@intrinsic
def tabulate(context, inputs, first, table):
    """Write what 64 inputs may add to a counter, for each choice of their signs, to a table.

    Of each three inputs, from row `first` of `inputs` on, the rows 2 m and 2 m + 1 of 16 hold the
    sum and the carry where bit i of m is 1 if input i counts as it is, and 0 if its bits are
    exchanged first. The last two rows are the 64th input, exchanged and as it is.
    """

    def generate(context, builder, signature, arguments):
        inputs, table = _data(context, builder, signature, arguments, 0, 2)

        def load(number):
            return _load(builder, inputs, builder.add(arguments[1], _INDEX(number)))

        def store(row, value):
            _store(builder, table, _INDEX(row), value)

        for triple in range(TRIPLES):
            three = [load(3 * triple + i) for i in range(3)]
            for m in range(4):
                rows = [x if m >> i & 1 else builder.not_(x) for i, x in enumerate(three)]
                for part, row in enumerate(_full_adder(builder, *rows)):
                    store(16 * triple + 2 * m + part, row)
                    store(16 * triple + 2 * (7 - m) + part, builder.not_(row))
        last = load(WORD - 1)
        store(TABLE - 2, builder.not_(last))
        store(TABLE - 1, last)
        return context.get_dummy_value()

    return types.void(inputs, types.int64, table), generate


@plain(_add_word)
@intrinsic
def add_word(context, table, weights, counter, carry):
    """Add 64 inputs to rows 0 to 5 of a counter, and write the carry, of weight 64, to a row.

    `table` is that of `tabulate`; bit i of the word `weights` says whether input i counts as it
    is. There is one full adder for each 1.5 inputs.
    """

    def generate(context, builder, signature, arguments):
        table, counter = _data(context, builder, signature, arguments, 0, 2)
        word = arguments[1]
        totals = [_load(builder, counter, _INDEX(level)) for level in range(LEVELS)]
        waiting = [[] for _ in range(LEVELS + 1)]

        def add(level, row):
            """Add a row of weight 2**level, two at a time."""
            waiting[level].append(row)
            if level < LEVELS and len(waiting[level]) == 2:
                totals[level], up = _full_adder(builder, *waiting[level], totals[level])
                waiting[level].clear()
                add(level + 1, up)

        def pick(start, bits, mask, size):
            chosen = builder.and_(builder.lshr(word, _INDEX(bits)), _INDEX(mask))
            return builder.add(builder.mul(chosen, _INDEX(size)), _INDEX(start))

        add(0, _load(builder, table, pick(TABLE - 2, WORD - 1, 1, 1)))
        for triple in range(TRIPLES):
            row = pick(16 * triple, 3 * triple, 7, 2)
            add(0, _load(builder, table, row))
            add(1, _load(builder, table, builder.add(row, _INDEX(1))))
        for level in range(LEVELS):
            _store(builder, counter, _INDEX(level), totals[level])
        (up,) = waiting[LEVELS]  # 22, 32, 16, 8, 4 and 2 rows, by twos: nothing else is left
        _store(builder, counter, arguments[3], up)
        return context.get_dummy_value()

    return types.void(table, types.uint64, counter, types.int64), generate


@plain(_add_rows)
@intrinsic
def add_rows(context, counter, total, first, second, carry):
    """Add rows `first` and `second` to row `total`, and write the carry to row `carry`."""

    def generate(context, builder, signature, arguments):
        (counter,) = _data(context, builder, signature, arguments, 0)
        rows = [_load(builder, counter, arguments[k]) for k in (2, 3, 1)]
        for place, row in zip((1, 4), _full_adder(builder, *rows), strict=True):
            _store(builder, counter, arguments[place], row)
        return context.get_dummy_value()

    return types.void(counter, *[types.int64] * 4), generate


def _full_adder(builder, a, b, c):
    """Emit sum and carry; c comes last into both, as it is what the others wait for."""
    differ = builder.xor(a, b)
    carry = builder.or_(builder.and_(differ, c), builder.and_(builder.not_(differ), a))
    return builder.xor(differ, c), carry


def _data(context, builder, signature, arguments, *places):
    """Emit the addresses of the entries of arrays."""
    return [
        context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in places
    ]


def _address(builder, data, row):
    first = builder.gep(data, [builder.mul(row, _INDEX(LANES))])
    return builder.bitcast(first, _ROW.as_pointer())


def _load(builder, data, row):
    return builder.load(_address(builder, data, row), align=8)


def _store(builder, data, row, value):
    builder.store(value, _address(builder, data, row), align=8)
