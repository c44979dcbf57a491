// SPDX-License-Identifier: MIT

// Tests that use the traits need the cassettes, too.
@_exported import TargetKitTesting
