//! Names of enum values. The engine defines them, and Python's enums have the same names.

use okf_engine::{
    CatalogDiagnosticCode, DiagnosticCode, RemarkCode, Role, Scoring, Status, Strategy, Tier, Trust, Unit,
};
use pyo3::{exceptions::PyValueError, prelude::*, sync::PyOnceLock};

/// For each enum, by the name it has in Python: the names of its values, in order.
#[pyfunction]
pub(crate) fn enum_names() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("CatalogDiagnosticCode", CatalogDiagnosticCode::ALL.map(CatalogDiagnosticCode::as_str).to_vec()),
        ("ConceptStatus", Status::ALL.map(Status::as_str).to_vec()),
        ("KnowledgeDiagnosticCode", DiagnosticCode::ALL.map(DiagnosticCode::as_str).to_vec()),
        ("KnowledgeResolverStrategy", Strategy::ALL.map(Strategy::as_str).to_vec()),
        ("KnowledgeScoring", Scoring::ALL.map(Scoring::as_str).to_vec()),
        ("KnowledgeUnit", Unit::ALL.map(Unit::as_str).to_vec()),
        ("MemoryTier", Tier::ALL.map(Tier::as_str).to_vec()),
        ("RemarkCode", RemarkCode::ALL.map(RemarkCode::as_str).to_vec()),
        ("SourceRole", Role::ALL.map(Role::as_str).to_vec()),
        ("TrustTier", Trust::ALL.map(Trust::as_str).to_vec()),
    ]
}

/// The members of one of Python's enums, in the order of the engine's enum. They are looked up once, because a
/// lookup at each access of a field would cost more than all other fields together.
struct Members {
    class: Py<PyAny>,
    members: [Py<PyAny>; 3],
}

impl Members {
    fn import(py: Python<'_>, name: &str, values: [&str; 3]) -> PyResult<Self> {
        let class = py.import("okf_catalog")?.getattr(name)?;
        let member = |value: &str| PyResult::Ok(class.call1((value,))?.unbind());
        let [first, second, third] = values;
        let members = [member(first)?, member(second)?, member(third)?];
        Ok(Self { class: class.unbind(), members })
    }

    /// The position of the member that `value` is, or whose name it is.
    ///
    /// # Errors
    /// The exception that the enum raises for any other value.
    fn position_of(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let member = self.class.bind(value.py()).call1((value,))?;
        let position = self.members.iter().position(|known| member.is(known));
        position.ok_or_else(|| PyValueError::new_err(format!("the engine does not know {member}")))
    }
}

fn trust_tiers(py: Python<'_>) -> PyResult<&Members> {
    static MEMBERS: PyOnceLock<Members> = PyOnceLock::new();
    MEMBERS.get_or_try_init(py, || Members::import(py, "TrustTier", Trust::ALL.map(Trust::as_str)))
}

fn statuses(py: Python<'_>) -> PyResult<&Members> {
    static MEMBERS: PyOnceLock<Members> = PyOnceLock::new();
    MEMBERS.get_or_try_init(py, || Members::import(py, "ConceptStatus", Status::ALL.map(Status::as_str)))
}

pub(crate) fn trust(py: Python<'_>, trust: Trust) -> PyResult<Py<PyAny>> {
    Ok(trust_tiers(py)?.members[trust as usize].clone_ref(py))
}

pub(crate) fn status(py: Python<'_>, status: Status) -> PyResult<Py<PyAny>> {
    Ok(statuses(py)?.members[status as usize].clone_ref(py))
}

pub(crate) fn trust_of(value: &Bound<'_, PyAny>) -> PyResult<Trust> {
    Ok(Trust::ALL[trust_tiers(value.py())?.position_of(value)?])
}

pub(crate) fn status_of(value: &Bound<'_, PyAny>) -> PyResult<Status> {
    Ok(Status::ALL[statuses(value.py())?.position_of(value)?])
}
