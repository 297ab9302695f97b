mod helpers;
mod json;
mod messages;
mod properties;
mod random;
