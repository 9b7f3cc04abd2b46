# https://github.com/kubernetes/autoscaler/pull/8164 and https://github.com/kubernetes/autoscaler/pull/9288

@cluster-autoscaler @clusterapi
Feature: Pods that are spread over nodes are no reason to keep a node, unless they need it

  Two machines have a pod each, and one machine has room for both.

  @issue-8164 @clusterapi-8164-spread-blocks
  Scenario: The spread leaves out nodes that are tainted
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 2 of them Running
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: honor}
      spec:
        replicas: 2
        selector: {matchLabels: {app: honor}}
        template:
          metadata: {labels: {app: honor}}
          spec:
            topologySpreadConstraints:
              - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: honor}}}
            containers: [{name: honor, image: honor, resources: {requests: {cpu: 200m}}}]
      """
    And "kube-scheduler" has ever sent "create" of "pods/binding" 2 times
    And Cluster Autoscaler for Cluster API
    When the scenario waits for 1m
    Then the autoscaler scales the MachineDeployment "workers" within 30m

  @issue-9288 @clusterapi-9288-spread-oscillates
  Scenario: The spread counts nodes that are tainted
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 3 machines, 2 of them Running
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            topologySpreadConstraints:
              - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
            containers: [{name: web, image: web, resources: {requests: {cpu: 200m}}}]
      """
    And "kube-scheduler" has ever sent "create" of "pods/binding" 2 times
    And Cluster Autoscaler for Cluster API
    When the scenario waits for 1m
    Then 40m from now, a pod has been scheduled since the start, and no eviction has been asked for
