# Fixed by https://github.com/kubernetes/autoscaler/pull/9806, of which no release is known yet.

@cluster-autoscaler @externalgrpc @issue-9805
Feature: Capacity that a ProvisioningRequest has been given is not booked for it once its pods run

  @externalgrpc-9805-booked-twice
  Scenario: Kueue asks for the capacity of a second Job while the first one runs on half of the only machine
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type  | min | max |
      | best | large | 0   | 1   |
    And these objects from the file "provisioning-requests.yaml"
    And Kueue v0.17.1
    And these objects from the file "queues.yaml"
    And Cluster Autoscaler with the flags:
      | --enable-provisioning-requests | true             |
      | --kube-api-content-type        | application/json |
    When these objects are created:
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: first, namespace: default, labels: {kueue.x-k8s.io/queue-name: jobs}}
      spec:
        template:
          metadata: {annotations: {nodestorm.sim/run-for: 1h}}
          spec:
            restartPolicy: Never
            containers: [{name: main, image: main, resources: {requests: {cpu: 3}}}]
      """
    Then "node" has recorded "running" of "pods" 1 times within 10m
    When these objects are created:
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: second, namespace: default, labels: {kueue.x-k8s.io/queue-name: jobs}}
      spec:
        template:
          metadata: {annotations: {nodestorm.sim/run-for: 1h}}
          spec:
            restartPolicy: Never
            containers: [{name: main, image: main, resources: {requests: {cpu: 3}}}]
      """
    Then "node" has recorded "running" of "pods" 1 times within 5m
