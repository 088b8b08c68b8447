"""The package's own exceptions: each is also the built-in error a caller would guess."""


class GANetError(Exception):
    """Base of every error that ganet_tf raises on purpose: its text is meant for the user."""


class DatasetNotFoundError(GANetError, FileNotFoundError):
    """No such data set, or its files could not be found anywhere."""


class ChecksumError(GANetError, ValueError):
    """A file, or the arrays parsed from it, are not the ones that were expected."""


class DataFormatError(GANetError, ValueError):
    """A data file or an array breaks the rules of its format."""


class ConfigError(GANetError, ValueError):
    """A configuration key, value or combination that cannot be used."""


class RunError(GANetError, RuntimeError):
    """A run folder that cannot be written, continued or read."""


class OutOfMemoryError(GANetError, MemoryError):
    """An operation refused because it would need more memory than there is."""


class UnsafeFileError(DataFormatError):
    """A file refused because reading it could do harm: an archive that escapes or explodes, a pickle with code."""


class DownloadError(GANetError, OSError):
    """A file could not be downloaded, or what came was not the file."""
