//! The enums of passages. They are Python's own, so that they are what `enum` makes everywhere else; their
//! members are looked up once: doing so at each access would cost more than all other fields together.

use okf_engine::document::{Status, Trust};
use pyo3::{prelude::*, sync::PyOnceLock};

const TRUST: [Trust; 3] = [Trust::Unverified, Trust::MachineConfirmed, Trust::HumanReviewed];
const STATUS: [Status; 3] = [Status::Draft, Status::Stable, Status::Deprecated];

/// An enum, and its members in the order of the engine's.
struct Choice {
    class: Py<PyAny>,
    members: [Py<PyAny>; 3],
}

impl Choice {
    fn import(py: Python<'_>, name: &str, values: [&str; 3]) -> PyResult<Self> {
        let class = py.import("okf_catalog.values")?.getattr(name)?;
        let member = |value: &str| PyResult::Ok(class.call1((value,))?.unbind());
        let [first, second, third] = values;
        let members = [member(first)?, member(second)?, member(third)?];
        Ok(Self { class: class.unbind(), members })
    }

    /// The number of the member that is meant by a member or by its value.
    ///
    /// # Errors
    /// What the enum says of anything else.
    fn number_of(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let member = self.class.bind(value.py()).call1((value,))?;
        let number = self.members.iter().position(|known| member.is(known));
        Ok(number.expect("an enum has no members but its members"))
    }
}

fn trust_tier(py: Python<'_>) -> PyResult<&Choice> {
    static CHOICE: PyOnceLock<Choice> = PyOnceLock::new();
    CHOICE.get_or_try_init(py, || Choice::import(py, "TrustTier", TRUST.map(Trust::as_str)))
}

fn concept_status(py: Python<'_>) -> PyResult<&Choice> {
    static CHOICE: PyOnceLock<Choice> = PyOnceLock::new();
    CHOICE.get_or_try_init(py, || Choice::import(py, "ConceptStatus", STATUS.map(Status::as_str)))
}

pub(crate) fn trust(py: Python<'_>, trust: Trust) -> PyResult<Py<PyAny>> {
    Ok(trust_tier(py)?.members[trust as usize].clone_ref(py))
}

pub(crate) fn status(py: Python<'_>, status: Status) -> PyResult<Py<PyAny>> {
    Ok(concept_status(py)?.members[status as usize].clone_ref(py))
}

pub(crate) fn trust_of(value: &Bound<'_, PyAny>) -> PyResult<Trust> {
    Ok(TRUST[trust_tier(value.py())?.number_of(value)?])
}

pub(crate) fn status_of(value: &Bound<'_, PyAny>) -> PyResult<Status> {
    Ok(STATUS[concept_status(value.py())?.number_of(value)?])
}
