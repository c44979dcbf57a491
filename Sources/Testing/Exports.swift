// SPDX-License-Identifier: MIT

// A test needs both modules, and one import is enough.
@_exported import TargetKit
