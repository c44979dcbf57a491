// SPDX-License-Identifier: MIT

// So that each file of the targets above it can name what Foundation declares.
@_exported import Foundation

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
