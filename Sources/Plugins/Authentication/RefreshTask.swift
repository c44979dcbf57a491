// SPDX-License-Identifier: MIT

/// In which refreshes the code of a task runs.
enum RefreshTask {
    /// What started them, as identities of ``CredentialHolder``s, each with the number of its refresh: a task that was begun in
    /// one may outlive it.
    @TaskLocal static var flights: [ObjectIdentifier: Int] = [:]
}
