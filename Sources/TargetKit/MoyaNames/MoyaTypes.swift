// SPDX-License-Identifier: MIT

/// Moya's name; use ``Provider``.
@available(*, unavailable, renamed: "Provider", message: "see the page Moving from Moya, or import TargetKitMoya")
public typealias MoyaProvider = Provider

/// Moya's name; use ``TargetKitError``.
@available(*, unavailable, renamed: "TargetKitError", message: "it has a stage and a kind instead of cases")
public typealias MoyaError = TargetKitError

/// Moya's name; use ``Plugin``.
@available(
    *,
    unavailable,
    renamed: "Plugin",
    message: "its hooks have the parameter context; a method with target: compiles but is never called"
)
public typealias PluginType = Plugin

/// Moya's name; the hook is ``Plugin/willSend(_:context:)``.
@available(
    *,
    unavailable,
    message: "willSend receives the URLRequest: func willSend(_ request: URLRequest, context: RequestContext)"
)
public typealias RequestType = Never

/// Moya's name; set ``TargetType/validation``.
@available(
    *,
    unavailable,
    renamed: "StatusValidation",
    message: "the property is validation: StatusValidation; a property named validationType is ignored"
)
public typealias ValidationType = StatusValidation

/// Moya's name; set the option `\.authorization` of TargetKitPlugins.
@available(*, unavailable, message: "set the option authorization; every call carries the token by default")
public typealias AccessTokenAuthorizable = TargetType

/// Moya's name; set the option `\.authorization` of TargetKitPlugins.
@available(*, unavailable, message: "set the option authorization to an AuthorizationScheme of TargetKitPlugins")
public typealias AuthorizationType = Never

/// Moya's name; use ``SampleResponse``.
@available(*, unavailable, renamed: "SampleResponse")
public typealias EndpointSampleResponse = SampleResponse

/// Moya's name; use ``MultipartForm``.
@available(*, unavailable, renamed: "MultipartForm", message: "it is an array of parts: [.data(data, name: \"photo\")]")
public typealias MultipartFormData = MultipartForm

/// Moya's name; use ``RequestHandle``.
@available(*, unavailable, renamed: "RequestHandle", message: "cancelling the task also cancels its call")
public typealias Cancellable = RequestHandle

/// Moya's name; use ``TransferProgress``.
@available(*, unavailable, renamed: "TransferProgress")
public typealias ProgressResponse = TransferProgress
