mod bounds;
mod entries;
mod helpers;
mod lenient;
mod valid;
