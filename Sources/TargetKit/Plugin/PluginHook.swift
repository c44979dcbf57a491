// SPDX-License-Identifier: MIT

/// The hooks of a ``Plugin``, in the order of a call.
enum PluginHook: Int, CaseIterable, Sendable {
    case prepare, willSend, didReceive, retry, process
}
