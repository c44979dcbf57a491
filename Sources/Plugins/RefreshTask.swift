// SPDX-License-Identifier: MIT

/// In which refreshes the code of a task runs.
enum RefreshTask {
    /// What started them, as identities of ``CredentialHolder``s.
    @TaskLocal static var holders: Set<ObjectIdentifier> = []
}
