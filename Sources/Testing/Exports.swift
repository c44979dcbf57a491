// SPDX-License-Identifier: MIT

// Tests need both modules, so one import provides both.
@_exported import TargetKit
// Cassettes and contracts take a `Redaction`.
@_exported import _TargetKitRedaction
