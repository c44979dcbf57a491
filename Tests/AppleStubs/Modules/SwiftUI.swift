// SPDX-License-Identifier: MIT
// swift-format-ignore-file
import Foundation
import Observation

@available(macOS 10.15, iOS 13, *)
@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

@available(macOS 10.15, iOS 13, *)
extension Never: View {
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, *)
extension Optional: View where Wrapped: View {
    public typealias Body = Never
    public var body: Never { fatalError() }
}

/// What all views of this module are.
@available(macOS 10.15, iOS 13, *)
public protocol PrimitiveView: View where Body == Never {}

@available(macOS 10.15, iOS 13, *)
extension PrimitiveView {
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13, *)
@resultBuilder
public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    @_disfavoredOverload
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> { fatalError() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> { fatalError() }
}

@available(macOS 10.15, iOS 13, *)
public struct TupleView<T>: PrimitiveView {}
@available(macOS 10.15, iOS 13, *)
public struct ConditionalContent<First: View, Second: View>: PrimitiveView {}

// MARK: - State

@available(macOS 10.15, iOS 13, *)
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
    fileprivate init(stub: Never) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}

@available(macOS 10.15, iOS 13, *)
@propertyWrapper
public struct State<Value> {
    public init(wrappedValue value: Value) {}
    public init(initialValue value: Value) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { fatalError() }
}

@available(macOS 10.15, iOS 13, *)
extension State: Sendable where Value: Sendable {}

@available(macOS 14, iOS 17, *)
@propertyWrapper @dynamicMemberLookup
public struct Bindable<Value> {
    fileprivate init(stub: Never) {}
    public init(wrappedValue: Value) where Value: AnyObject, Value: Observable {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Bindable<Value> { self }
}

@available(macOS 14, iOS 17, *)
extension Bindable where Value: AnyObject, Value: Observable {
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> { fatalError() }
}

@available(macOS 14, iOS 17, *)
extension Bindable: Sendable where Value: Sendable {}

// MARK: - Views

@available(macOS 10.15, iOS 13, *)
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public init(_ value: String) {}
    public init(stringLiteral value: String) {}
}

@available(macOS 10.15, iOS 13, *)
public struct EmptyView: PrimitiveView, Sendable {
    public nonisolated init() {}
}

@available(macOS 10.15, iOS 13, *)
public struct Text: PrimitiveView, Sendable, Equatable {
    @_disfavoredOverload
    public nonisolated init<S: StringProtocol>(_ content: S) {}
    public nonisolated init(_ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil) {}
    public nonisolated func font(_ font: Font?) -> Text { self }
}

@available(macOS 11, iOS 14, *)
public struct Label<Title: View, Icon: View>: PrimitiveView {}

@available(macOS 11, iOS 14, *)
extension Label where Title == Text, Icon == EmptyView {
    public init(_ titleKey: LocalizedStringKey, systemImage name: String) {}
}

@available(macOS 10.15, iOS 13, *)
public struct VStack<Content: View>: PrimitiveView {
    public init(alignment: HorizontalAlignment = .leading, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}

@available(macOS 10.15, iOS 13, *)
public struct Form<Content: View>: PrimitiveView {
    public init(@ViewBuilder content: () -> Content) {}
}

@available(macOS 10.15, iOS 13, *)
public struct TabView<SelectionValue: Hashable, Content: View>: PrimitiveView {}

@available(macOS 10.15, iOS 13, *)
extension TabView where SelectionValue == Int {
    public init(@ViewBuilder content: () -> Content) {}
}

@available(macOS 10.15, iOS 13, *)
public struct List<SelectionValue: Hashable, Content: View>: PrimitiveView {}

@available(macOS 10.15, iOS 13, *)
extension List where SelectionValue == Never {
    public init<Data: RandomAccessCollection, RowContent: View>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> RowContent
    ) where Content == TupleView<(Data, RowContent)>, Data.Element: Identifiable {}
}

@available(macOS 13, iOS 16, *)
public struct NavigationStack<Data, Root: View>: PrimitiveView {}

@available(macOS 13, iOS 16, *)
extension NavigationStack where Data == Never {
    public init(@ViewBuilder root: () -> Root) {}
}

@available(macOS 10.15, iOS 13, *)
public struct NavigationLink<Label: View, Destination: View>: PrimitiveView {}

@available(macOS 13, iOS 16, *)
extension NavigationLink where Destination == Never {
    public init<P: Hashable>(value: P?, @ViewBuilder label: () -> Label) {}
}

@available(macOS 13, iOS 16, *)
public struct LabeledContent<Label: View, Content: View>: PrimitiveView {}

@available(macOS 13, iOS 16, *)
extension LabeledContent where Label == Text, Content == Text {
    public init<S: StringProtocol>(_ titleKey: LocalizedStringKey, value: S) {}
    @_disfavoredOverload
    public init<S1: StringProtocol, S2: StringProtocol>(_ title: S1, value: S2) {}
}

@available(macOS 10.15, iOS 13, *)
public struct TextField<Label: View>: PrimitiveView {}

@available(macOS 10.15, iOS 13, *)
extension TextField where Label == Text {
    public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

@available(macOS 10.15, iOS 13, *)
public struct SecureField<Label: View>: PrimitiveView {}

@available(macOS 10.15, iOS 13, *)
extension SecureField where Label == Text {
    public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

@available(macOS 12, iOS 15, *)
public struct ButtonRole: Equatable, Sendable {
    public static let destructive = ButtonRole()
    public static let cancel = ButtonRole()
}

@available(macOS 10.15, iOS 13, *)
public struct Button<Label: View>: PrimitiveView {}

@available(macOS 10.15, iOS 13, *)
extension Button where Label == Text {
    public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {}
    @available(macOS 12, iOS 15, *)
    public init(_ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
}

@available(macOS 10.15, iOS 13, *)
public struct Stepper<Label: View>: PrimitiveView {}

@available(macOS 10.15, iOS 13, *)
extension Stepper where Label == Text {
    public init<V: Strideable>(
        _ titleKey: LocalizedStringKey, value: Binding<V>, in bounds: ClosedRange<V>, step: V.Stride = 1,
        onEditingChanged: @escaping (Bool) -> Void = { _ in }
    ) {}
}

@available(macOS 11, iOS 14, *)
public struct ProgressView<Label: View, CurrentValueLabel: View>: PrimitiveView {}

@available(macOS 11, iOS 14, *)
extension ProgressView where Label == EmptyView, CurrentValueLabel == EmptyView {
    public init() {}
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {}
}

// MARK: - Modifiers

@available(macOS 10.15, iOS 13, *)
public struct HorizontalAlignment: Equatable, Sendable {
    public static let leading = HorizontalAlignment()
}

@available(macOS 10.15, iOS 13, *)
public struct Alignment: Equatable, Sendable {
    public static let center = Alignment()
}

@available(macOS 12, iOS 15, *)
public enum VerticalEdge: Sendable {
    case top, bottom
}

@available(macOS 10.15, iOS 13, *)
public enum HorizontalEdge: Sendable {
    case leading, trailing
}

@available(macOS 10.15, iOS 13, *)
public struct Font: Hashable, Sendable {
    public static let footnote = Font()
}

@available(macOS 10.15, iOS 13, *)
public protocol ShapeStyle: Sendable {}

@available(macOS 10.15, iOS 13, *)
public struct Color: ShapeStyle, Hashable {
    public static let red = Color()
}

@available(macOS 10.15, iOS 13, *)
extension ShapeStyle where Self == Color {
    public static var red: Color { Color() }
}

@available(macOS 10.15, iOS 13, *)
extension View {
    public nonisolated func tabItem<V: View>(@ViewBuilder _ label: () -> V) -> some View { EmptyView() }
    public nonisolated func font(_ font: Font?) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { EmptyView() }
    public nonisolated func disabled(_ disabled: Bool) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func safeAreaInset<V: View>(
        edge: VerticalEdge, alignment: HorizontalAlignment = .leading, spacing: CGFloat? = nil, @ViewBuilder content: () -> V
    ) -> some View { EmptyView() }
    @available(macOS 11, iOS 14, *)
    public nonisolated func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { EmptyView() }
    @available(macOS 11, iOS 14, *)
    @_disfavoredOverload
    public nonisolated func navigationTitle<S: StringProtocol>(_ title: S) -> some View { EmptyView() }
    @available(macOS 13, iOS 16, *)
    public nonisolated func navigationDestination<D: Hashable, C: View>(
        for data: D.Type, @ViewBuilder destination: @escaping (D) -> C
    ) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func searchable(text: Binding<String>) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { EmptyView() }
    @available(macOS 12, iOS 15, *)
    public nonisolated func swipeActions<T: View>(
        edge: HorizontalEdge = .trailing, allowsFullSwipe: Bool = true, @ViewBuilder content: () -> T
    ) -> some View { EmptyView() }
    @available(macOS 11, iOS 14, *)
    public nonisolated func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { EmptyView() }
}
