"""One download from the web that comes to an end, whatever the server does.

It ends with what came; or where nothing came for a while; or where it is too large; or where all
of it takes too long, as from a server that gives a byte now and then.
"""

from __future__ import annotations

import contextlib
import threading

STALL = 30.0  # seconds without a byte
CHUNK = 1 << 14  # bytes
AT_LEAST = 60.0  # seconds that any download may take
SLOWEST = 20_000  # bytes a second: what is slower than this is given up


class BrokenDownloadError(Exception):
    """The address gave no file; the message goes on from the address."""


class TooLargeError(Exception):
    """The address gives more bytes than it may."""


def patience(size):
    """Return how many seconds a file of a size in bytes may take."""
    return AT_LEAST + size / SLOWEST


class Writer:
    """What a download writes to: counts, shows, and refuses more than there may be.

    Parameters
    ----------
    opened : file
        Open for writing.
    most : int
        How many bytes there may be.
    bar : tqdm.tqdm, optional
        Is told of them.
    """

    def __init__(self, opened, most, bar=None):
        self.opened, self.most, self.bar = opened, most, bar
        self.got, self.given_up = 0, False

    def write(self, chunk):
        """Write some bytes."""
        if self.given_up:
            raise BrokenDownloadError
        self.got += len(chunk)
        if self.got > self.most:
            raise TooLargeError
        self.opened.write(chunk)
        if self.bar is not None:
            self.bar.update(len(chunk))

    def flush(self):
        """Do nothing: pooch asks for it after every chunk."""


def fetch(url, writer, seconds):
    """Write what an address gives.

    A thread downloads: a name server, a handshake and the head of an answer can take for ever,
    too, and no timeout of a socket is over all of it.

    Parameters
    ----------
    url : str
        The address, http or https.
    writer : Writer
        Where the bytes go.
    seconds : float
        How long all may take.

    Raises
    ------
    BrokenDownloadError
        If it did not come, or not in time.
    TooLargeError
        If there is more of it than may be.
    OSError
        If it cannot be written.
    """
    answers, outcome = [], []
    thread = threading.Thread(target=_run, args=(url, writer, answers, outcome), daemon=True)
    thread.start()
    late = True
    try:
        thread.join(seconds)
        late = thread.is_alive()
    finally:  # also where the user interrupts
        writer.given_up = True
        for answer in answers if late else ():
            with contextlib.suppress(Exception):
                answer.raw.shutdown()  # wakes the thread where it reads
    if late:  # whatever the thread says of it now: it was woken
        raise BrokenDownloadError(
            f"is too slow: {writer.got} bytes came in {seconds:.3g} s, and it was given up"
        )
    if outcome[0] is not None:
        raise _told(outcome[0], writer) from None


def _run(url, writer, answers, outcome):
    """Download; put None into `outcome`, or what went wrong."""
    import pooch

    get = pooch.HTTPDownloader(
        chunk_size=CHUNK,
        timeout=STALL,
        headers={"Accept-Encoding": "identity"},  # or a server may pack what is packed
        hooks={"response": lambda answer, **_: answers.append(answer)},
    )
    try:
        get(url, writer, None)
        outcome.append(None)
    except BaseException as error:  # an interrupt, too, is for the thread that waits
        outcome.append(error)
    finally:
        for answer in answers:
            answer.close()


def _told(error, writer):
    """Return an error in the words of this module, or as it is."""
    import requests

    if isinstance(error, requests.HTTPError):
        answer = error.response
        return BrokenDownloadError(f"answers {answer.status_code} ({answer.reason})")
    if not isinstance(error, requests.RequestException):
        return error
    if _is_stall(error):
        after = f" after {writer.got} bytes" if writer.got else ""
        return BrokenDownloadError(f"stalled: nothing came for {STALL:.3g} s{after}")
    if writer.got or isinstance(error, requests.exceptions.ChunkedEncodingError):
        return BrokenDownloadError(f"broke off after {writer.got} bytes")
    return BrokenDownloadError(f"cannot be reached ({_reason(error)})")


def _is_stall(error):
    """Say whether a server that was reached said nothing for long."""
    import requests
    from urllib3.exceptions import ReadTimeoutError

    inner = error.args[0] if error.args else None
    return isinstance(error, requests.ReadTimeout) or isinstance(inner, ReadTimeoutError)


def _reason(error):
    """Say in a few words why an address cannot be reached."""
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {STALL:.3g} s"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not accepted"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return type(error).__name__
