/** The generated qim.v1 schema: one door for the gateway, the SDK and tools. */
export * from './gen/qim/v1/admin_service_pb.js';
export * from './gen/qim/v1/conversation_service_pb.js';
export * from './gen/qim/v1/errors_pb.js';
export * from './gen/qim/v1/event_service_pb.js';
export * from './gen/qim/v1/frames_pb.js';
export * from './gen/qim/v1/message_service_pb.js';
export * from './gen/qim/v1/moderation_service_pb.js';
export * from './gen/qim/v1/profile_service_pb.js';
export * from './gen/qim/v1/push_service_pb.js';
export * from './gen/qim/v1/session_service_pb.js';
export * from './gen/qim/v1/types_pb.js';
