# That machines in deletion are not remediated came with https://github.com/kubernetes-sigs/cluster-api/pull/11465.

@cluster-api @clusterapi @issue-11465
Feature: A machine that is on its way out is not remediated

  Background:
    Given a cluster
    And Cluster API
    And these objects:
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: rebootremediationtemplates.infrastructure.cluster.x-k8s.io}
      spec:
        group: infrastructure.cluster.x-k8s.io
        scope: Namespaced
        names: {kind: RebootRemediationTemplate, plural: rebootremediationtemplates}
        versions:
        - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      ---
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: rebootremediations.infrastructure.cluster.x-k8s.io}
      spec:
        group: infrastructure.cluster.x-k8s.io
        scope: Namespaced
        names: {kind: RebootRemediation, plural: rebootremediations}
        versions:
        - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      """
    And these objects:
      """
      apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
      kind: RebootRemediationTemplate
      metadata: {name: reboot, namespace: default}
      spec: {template: {spec: {}}}
      """

  # The provider has switched the host off, and takes long to wipe its disks.
  @clusterapi-11465-deleting
  Scenario: A kubelet is silent while its machine is taken down
    Given a MachineDeployment "workers" with 1 Running machine
    And these objects:
      """
      apiVersion: cluster.x-k8s.io/v1beta1
      kind: MachineHealthCheck
      metadata: {name: workers, namespace: default}
      spec:
        clusterName: storm
        selector: {matchLabels: {cluster.x-k8s.io/deployment-name: workers}}
        unhealthyConditions:
        - {type: Ready, status: Unknown, timeout: 3m}
        remediationTemplate: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: RebootRemediationTemplate, name: reboot, namespace: default}
      """
    And the first machine of the MachineDeployment "workers" is held by a finalizer when it is deleted, for 40m
    When this is recorded:
      """
      {source: api, verb: create, resource: machines, ever: true}
      """
    And "Machine/$name" is deleted
    And the kubelet of a machine of the MachineDeployment "workers" stops sending heartbeats
    And the scenario waits for 10m
    Then this holds:
      """
      noSequence:
      - {match: {source: api, verb: delete, resource: machines}, capture: {machine: name}}
      - {match: {source: api, verb: create, resource: rebootremediations, name: $machine}}
      """
