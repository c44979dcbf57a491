// SPDX-License-Identifier: MIT
import Foundation
import SwiftProtobuf
import TargetKit

extension HTTPTask {
    /// A task with a protobuf message as its body.
    public static func protobuf(_ message: some Message) -> HTTPTask {
        .encoded(contentType: "application/x-protobuf") { try message.serializedData() }
    }
}

extension BodyDecoding where Value: Message {
    /// A protobuf message.
    public static var protobuf: Self {
        BodyDecoding { data in try Value(serializedBytes: data) }
    }
}
