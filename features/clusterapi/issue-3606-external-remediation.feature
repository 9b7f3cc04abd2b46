# What came with https://github.com/kubernetes-sigs/cluster-api/pull/3606: remediation by others than the owner of a machine.

@cluster-api @clusterapi @issue-3606
Feature: A machine that is not healthy is said to be so, also if it cannot be remediated

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

  # A slip of the pen.
  @clusterapi-3606-template-missing
  Scenario: The template of remediation requests is not there
    Given a MachineDeployment "workers" with 2 Running machines
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
        remediationTemplate: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: RebootRemediationTemplate, name: absent, namespace: default}
      """
    When the kubelet of a machine of the MachineDeployment "workers" stops sending heartbeats
    Then this holds within 20m:
      """
      happens: {source: api, verb: [create, patch], resource: events, detail: {message: {contains: has been marked as unhealthy}}}
      """

  @clusterapi-3606-request-refused
  Scenario: Remediation requests are refused
    Given every call "create rebootremediations.infrastructure.cluster.x-k8s.io" of the program "cluster-api" is answered with 403
    And a MachineDeployment "workers" with 2 Running machines
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
    When the kubelet of a machine of the MachineDeployment "workers" stops sending heartbeats
    Then this holds within 20m:
      """
      happens: {source: api, verb: [create, patch], resource: events, detail: {message: {contains: has been marked as unhealthy}}}
      """
