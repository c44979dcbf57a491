// SPDX-License-Identifier: MIT

// The logger takes a `Redaction`, so that whoever imports this module can name it.
@_exported import _TargetKitRedaction
