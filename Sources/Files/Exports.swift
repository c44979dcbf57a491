// SPDX-License-Identifier: MIT

@_exported import _TargetKitSupport
