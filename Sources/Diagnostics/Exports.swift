// SPDX-License-Identifier: MIT

// Event logs and HAR files take a `Redaction`, so that whoever imports this module can name it.
@_exported import _TargetKitRedaction
