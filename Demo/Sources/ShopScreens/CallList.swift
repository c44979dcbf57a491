// SPDX-License-Identifier: MIT
#if canImport(SwiftUI)
import SwiftUI

/// The last calls, newest first. A tap shows header fields, bodies and times, with secrets redacted.
@available(iOS 17, macOS 14, *)
public struct CallList: View {
    private let log: CallLog

    /// Creates the view.
    public init(_ log: CallLog) {
        self.log = log
    }

    /// The list.
    public var body: some View {
        NavigationStack {
            List(log.calls) { call in
                NavigationLink(value: call) {
                    VStack(alignment: .leading) {
                        Text(call.title)
                        if call.isFailure {
                            Text(call.detail).font(.footnote).foregroundStyle(.red)
                        } else {
                            Text(call.detail).font(.footnote)
                        }
                    }
                }
            }
            .navigationTitle("Calls")
            .navigationDestination(for: CallLog.Call.self) { call in
                List(call.lines) { line in Text(line.text).font(.footnote) }.navigationTitle(call.title)
            }
        }
    }
}
#endif
