// SPDX-License-Identifier: MIT

// TargetKit's signatures speak of `URL`, `Data`, `URLRequest`, `URLError`, `JSONDecoder`: a file that imports TargetKit can name
// what it has to. Without this a plugin would need `import FoundationNetworking` under a condition, since on Linux alone
// Foundation keeps `URLRequest` there. The attribute has no public spelling yet; Foundation itself exports Dispatch by it.
@_exported import Foundation

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
