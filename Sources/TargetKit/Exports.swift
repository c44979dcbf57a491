// SPDX-License-Identifier: MIT

// TargetKit's signatures use `URL`, `Data`, `URLRequest`, `URLError` and `JSONDecoder`, so a file that imports
// TargetKit can name them. Otherwise a plugin would need a conditional `import FoundationNetworking`, where Foundation
// keeps `URLRequest` on Linux. The attribute has no public spelling yet; Foundation itself uses it to export Dispatch.
@_exported import Foundation

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif

// Its declarations have `package` access, so that each target of the package can use them, and no other.
@_exported import _TargetKitSupport
