// SPDX-License-Identifier: MIT
#if canImport(UniformTypeIdentifiers)
import UniformTypeIdentifiers

extension MIMEType {
    /// What the system and the installed apps say about an extension that the table does not have.
    static func systemType(forExtension fileExtension: String) -> String? {
        UTType(filenameExtension: fileExtension)?.preferredMIMEType
    }
}
#endif
